/** Subject and plain-text body of an e-mail from the service itself. */
export interface Words {
  subject: string;
  text: string;
}
