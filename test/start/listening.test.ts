import { describe, expect, it } from 'vitest';
import { expectListenable, listenProblem } from '../../bin/ports.ts';
import { describe as sentenceOf } from '../../bin/process.ts';
import { takenPort } from './support.ts';

describe('what is in the way of listening', () => {
  it('is another program only where the system says so', async () => {
    const port = await takenPort();
    await expect(expectListenable(port, '127.0.0.1')).rejects.toThrow(`Port ${port} is already in use by`);
    await expect(expectListenable(port, '192.0.2.1')).rejects.toThrow('EADDRNOTAVAIL');
  });

  it('is nothing for a port of the system’s choice', async () => {
    await expectListenable(0, '127.0.0.1');
  });

  it.each([
    [
      'EACCES',
      undefined,
      'The service may not listen on port 80 (EACCES); allow it, or set PORT to another one.',
    ],
    ['EAFNOSUPPORT', '::1', 'Port 80 cannot be listened on (EAFNOSUPPORT); set PORT or HOST to another one.'],
  ])('%s at %s is named as it is', (code, host, sentence) => {
    expect(listenProblem(code, 80, host)).toBe(sentence);
  });

  it('is named in the same words where the port went meanwhile', () => {
    const error = (code: string) =>
      Object.assign(new Error(`listen ${code}`), { code, syscall: 'listen', address: '10.0.0.1', port: 80 });
    for (const code of ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'])
      expect(sentenceOf(error(code))).toBe(listenProblem(code, 80, '10.0.0.1'));
  });
});
