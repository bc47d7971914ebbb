// The package has no types.
declare module 'punycode.js' {
  const punycode: {
    /** What an A-label stands for, given without its `xn--`. @throws RangeError for what is none */
    decode(label: string): string;
  };
  export default punycode;
}
