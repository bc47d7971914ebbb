// punycode.js has no types.
declare module 'punycode.js' {
  const punycode: {
    /** Decodes an A-label given without its `xn--`. @throws RangeError for an invalid one */
    decode(label: string): string;
  };
  export default punycode;
}
