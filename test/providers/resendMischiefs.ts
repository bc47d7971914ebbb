import { errorAnswer, type Mischief, write } from './resendServer.ts';

/** Takes the e-mail, and says otherwise. */
export const answers =
  (status: number, name: string, message?: string, headers: Record<string, string> = {}): Mischief =>
  async (response, take) => {
    await take();
    write(response, { ...errorAnswer(status, name, message), headers });
  };
/** Answers without taking the e-mail. */
export const instead =
  (status: number, body: string, headers: Record<string, string> = {}): Mischief =>
  (response) =>
    void response.writeHead(status, headers).end(body);
/** Refuses the e-mail as the provider does. */
export const refuses =
  (status: number, name: string, message?: string, headers: Record<string, string> = {}): Mischief =>
  (response) =>
    write(response, { ...errorAnswer(status, name, message), headers });
export const taken: Mischief = async (response, take) => {
  await take();
  response.destroy();
};
export const half: Mischief = async (response, take) => {
  const body = JSON.stringify((await take()).json);
  response.writeHead(200, { 'content-length': body.length });
  response.write(body.slice(0, 10), () => response.destroy());
};
export const garbage: Mischief = async (response, take) => {
  await take();
  response.end('<html>');
};
export const silent: Mischief = async (_, take) => void (await take());
export const slow: Mischief = async (response, take) => {
  await take();
  response.write(' ');
};
