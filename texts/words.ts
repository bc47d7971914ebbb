/** Subject and plain-text body of an e-mail from the service itself. */
export interface Words {
  subject: string;
  text: string;
}

export const AUTOMATIC = 'Ta wiadomość została wysłana automatycznie; prosimy na nią nie odpowiadać.';

/** Grosze as an amount in PLN: `1234,05 PLN`. */
export function pln(grosze: number): string {
  const digits = String(Math.abs(grosze)).padStart(3, '0');
  return `${grosze < 0 ? '-' : ''}${digits.slice(0, -2)},${digits.slice(-2)} PLN`;
}
