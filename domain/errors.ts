/** A rule of the domain refused an input. `field` names the part at fault, for example `country_rates.49.sms`. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
