/** Standard Schema (standardschema.dev), as its text has it: what Zod, Valibot and ArkType all write their schemas in. */

/** A schema that checks a value, and says what it takes and gives. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output>;
}

export declare namespace StandardSchemaV1 {
  interface Props<Input = unknown, Output = Input> {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: Types<Input, Output> | undefined;
    readonly validate: (
      value: unknown,
    ) => Result<Output> | Promise<Result<Output>>;
  }
  interface Types<Input = unknown, Output = Input> {
    readonly input: Input;
    readonly output: Output;
  }
  type Result<Output> = SuccessResult<Output> | FailureResult;
  interface SuccessResult<Output> {
    readonly value: Output;
    readonly issues?: undefined;
  }
  interface FailureResult {
    readonly issues: readonly Issue[];
  }
  interface Issue {
    readonly message: string;
    readonly path?: readonly (PropertyKey | PathSegment)[] | undefined;
  }
  interface PathSegment {
    readonly key: PropertyKey;
  }
  type InferInput<S extends StandardSchemaV1> = NonNullable<
    S["~standard"]["types"]
  >["input"];
  type InferOutput<S extends StandardSchemaV1> = NonNullable<
    S["~standard"]["types"]
  >["output"];
}

/** A schema that also writes itself as JSON Schema. */
export interface StandardSchemaWithJSON<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output> & {
    readonly jsonSchema: {
      readonly input: Writer;
      readonly output: Writer;
    };
  };
}

export declare namespace StandardSchemaWithJSON {
  type InferInput<S extends StandardSchemaV1> = StandardSchemaV1.InferInput<S>;
  type InferOutput<S extends StandardSchemaV1> =
    StandardSchemaV1.InferOutput<S>;
}

type Writer = (options: {
  readonly target:
    "draft-2020-12" | "draft-07" | "openapi-3.0" | (object & string);
}) => Record<string, unknown>;
