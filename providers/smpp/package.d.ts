// The parts of the package `smpp` that are used: tables of commands, TLVs and errors, and the codecs of the types.
declare module 'smpp' {
  export interface FieldType {
    read(buffer: Buffer, offset: number, length?: number): unknown;
    write(value: unknown, buffer: Buffer, offset: number): void;
    size(value: unknown): number;
  }
  export interface Command {
    id: number;
    command: string;
    params?: Record<string, { type: FieldType; default?: unknown }>;
  }
  export interface Tlv {
    id: number;
    tag: string;
    type: FieldType;
  }

  const smpp: {
    commands: Record<string, Command>;
    commandsById: Record<number, Command>;
    tlvs: Record<string, Tlv>;
    tlvsById: Record<number, Tlv>;
    types: Record<'int8' | 'int16' | 'int32' | 'cstring' | 'buffer', FieldType> & {
      tlv: Record<'cstring' | 'string' | 'buffer', FieldType>;
    };
    errors: Record<string, number>;
  };
  export default smpp;
}
