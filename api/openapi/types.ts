/** A JSON Schema (2020-12) as far as this service writes them. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  dependentRequired?: Record<string, string[]>;
  additionalProperties?: boolean | JsonSchema;
  propertyNames?: JsonSchema;
  minProperties?: number;
  maxProperties?: number;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  not?: JsonSchema;
}

/** A parameter, or, without `name` and `in`, a header of an answer. */
export interface Header {
  $ref?: string;
  description?: string;
  required?: boolean;
  schema?: JsonSchema;
}
export interface Parameter extends Header {
  name: string;
  in: 'path' | 'query' | 'header';
}

export interface MediaType {
  schema: JsonSchema;
  example?: unknown;
}
export type Content = Record<string, MediaType>;

export interface Response {
  $ref?: string;
  description?: string;
  headers?: Record<string, Header>;
  content?: Content;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Response>;
}

/** The paths' or webhooks' operations by method, in lower case. */
export type PathItem = Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', Operation>>;

/** An OpenAPI 3.1 document as far as this service writes it. */
export interface OpenApi {
  openapi: '3.1.1';
  info: {
    title: string;
    version: string;
    summary: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Response>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, object>;
  };
}
