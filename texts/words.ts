/** What an own e-mail says, as plain text. */
export interface Words {
  subject: string;
  text: string;
}
