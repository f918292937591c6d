/**
 * Declarations as one line each, from what `deno doc --json` says of them.
 *
 * @module
 */

/** A type; `kind` says which of the others it has. */
export interface Type {
  readonly kind: string;
  readonly repr?: string;
  // deno-lint-ignore no-explicit-any
  readonly value?: any;
}

/** A type parameter. */
export interface TypeParam {
  readonly name: string;
  readonly constraint?: Type;
  readonly default?: Type;
}

interface Param {
  readonly kind: string;
  readonly name?: string;
  readonly optional?: boolean;
  readonly readonly?: boolean;
  readonly accessibility?: string;
  readonly tsType?: Type;
  /** Of a parameter with a default value. */
  readonly left?: Param;
  /** Of the rest of all parameters. */
  readonly arg?: Param;
}

interface Signature {
  readonly params: readonly Param[];
  readonly returnType?: Type;
  readonly tsType?: Type;
  readonly typeParams?: readonly TypeParam[];
}

/** A property, method, getter or setter, or a constructor. */
export interface Member extends Partial<Signature> {
  readonly kind?: string;
  readonly name: string;
  readonly jsDoc?: { readonly tags?: readonly { readonly kind: string }[] };
  readonly accessibility?: string;
  readonly isStatic?: boolean;
  readonly isAbstract?: boolean;
  readonly optional?: boolean;
  readonly readonly?: boolean;
  readonly functionDef?: Signature;
}

/** What a declaration has; `kind` of the declaration says which. */
export interface Definition extends Partial<Signature> {
  readonly target?: Place;
  readonly isAbstract?: boolean;
  readonly extends?: string | readonly Type[];
  readonly superTypeParams?: readonly Type[];
  readonly implements?: readonly Type[];
  readonly constructors?: readonly Member[];
  readonly callSignatures?: readonly Signature[];
  readonly indexSignatures?: readonly (Signature & { readonly?: boolean })[];
  readonly properties?: readonly Member[];
  readonly methods?: readonly Member[];
  readonly elements?: readonly Symbol[];
}

/** Where a declaration is. */
export interface Place {
  readonly filename: string;
  readonly byteIndex?: number;
  readonly line: number;
  readonly col: number;
}

/** A declaration of a name. */
interface Declaration {
  readonly kind: string;
  readonly declarationKind: string;
  readonly location: Place;
  readonly def: Definition;
}

/** A name, and its declarations: several, if it is overloaded. */
export interface Symbol {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

/** What a class inherits from bases that the report does not have. */
export interface Inherited {
  readonly members: readonly Member[];
  /** The types that have members besides, which the report has elsewhere. */
  readonly wholes: readonly string[];
}

/** What `deno doc --json` prints. */
export interface Docs {
  readonly nodes: Readonly<
    Record<string, { readonly symbols: readonly Symbol[] }>
  >;
}

/** The types that need more than a word, by their kinds. */
// deno-lint-ignore no-explicit-any
const TYPES: Readonly<Record<string, (value: any, type: any) => string>> = {
  keyword: (value) => value,
  literal: (value, { repr }) =>
    value.kind === "string" ? JSON.stringify(value.string) : repr,
  typeRef: ({ typeName, typeParams }) => typeName + argumentsOf(typeParams),
  typeQuery: (value) => `typeof ${value}`,
  union: (value: Type[]) => value.map(typeOf).join(" | "),
  intersection: (value: Type[]) => value.map(typeOf).join(" & "),
  array: (value) => `${typeOf(value)}[]`,
  tuple: (value: Type[]) => `[${value.map(typeOf).join(", ")}]`,
  rest: (value) => `...${typeOf(value)}`,
  optional: (value) => `${typeOf(value)}?`,
  parenthesized: (value) => `(${typeOf(value)})`,
  typeOperator: ({ operator, tsType }) => `${operator} ${typeOf(tsType)}`,
  indexedAccess: ({ objType, indexType }) =>
    `${typeOf(objType)}[${typeOf(indexType)}]`,
  infer: ({ typeParam }) => `infer ${typeParamOf(typeParam)}`,
  conditional: ({ checkType, extendsType, trueType, falseType }) =>
    `${typeOf(checkType)} extends ${typeOf(extendsType)} ? ${
      typeOf(trueType)
    } : ${typeOf(falseType)}`,
  mapped: ({ typeParam, nameType, tsType, readonly, optional }) =>
    `{ ${signed(readonly, "readonly ")}[${typeParam.name} in ${
      typeOf(typeParam.constraint)
    }${nameType ? ` as ${typeOf(nameType)}` : ""}]${signed(optional, "?")}: ${
      typeOf(tsType)
    } }`,
  fnOrConstructor: ({ constructor, typeParams, params, tsType }) =>
    `${constructor ? "new " : ""}${typeParamsOf(typeParams)}(${
      params.map(paramOf).join(", ")
    }) => ${typeOf(tsType)}`,
  typeLiteral: (value) => {
    const members = membersOf(value);
    return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
  },
  typePredicate: ({ asserts, param, type }) =>
    `${asserts ? "asserts " : ""}${param.name ?? "this"}${
      type ? ` is ${typeOf(type)}` : ""
    }`,
  this: () => "this",
};

/** `word` as a mapped type has it: not, once, or added or removed. */
const signed = (sign: boolean | "+" | "-" | undefined, word: string): string =>
  sign === undefined || sign === false
    ? ""
    : sign === true
    ? word
    : sign + word;

/** A type, as TypeScript writes it. */
export function typeOf(type: Type): string {
  const write = TYPES[type.kind];
  // A word that is left out would hide a change.
  if (!write) throw new Error(`no way to write a type of kind ${type.kind}`);
  return write(type.value, type);
}

const argumentsOf = (types: readonly Type[] = []): string =>
  types.length === 0 ? "" : `<${types.map(typeOf).join(", ")}>`;

const typeParamOf = (param: TypeParam): string =>
  param.name +
  (param.constraint ? ` extends ${typeOf(param.constraint)}` : "") +
  (param.default ? ` = ${typeOf(param.default)}` : "");

const typeParamsOf = (params: readonly TypeParam[] = []): string =>
  params.length === 0 ? "" : `<${params.map(typeParamOf).join(", ")}>`;

/** A parameter; one with a default value is optional. */
function paramOf(param: Param): string {
  if (param.kind === "assign") {
    return paramOf({ ...param.left!, optional: true });
  }
  const { kind, name, optional, tsType, arg, accessibility } = param;
  const own = accessibility ? `${accessibility} ` : "";
  const rest = kind === "rest" ? `...${arg!.name}` : name ?? `{}`;
  const type = tsType ?? arg?.tsType;
  return `${own}${rest}${optional ? "?" : ""}${
    type ? `: ${typeOf(type)}` : ""
  }`;
}

const signatureOf = (
  { typeParams, params, returnType, tsType }: Signature,
): string => {
  const result = returnType ?? tsType;
  return `${typeParamsOf(typeParams)}(${params.map(paramOf).join(", ")})${
    result ? `: ${typeOf(result)}` : ""
  }`;
};

/** Whether no user is promised this member. */
const isInternal = ({ accessibility, jsDoc }: Member): boolean =>
  accessibility === "private" ||
  (jsDoc?.tags ?? []).some(({ kind }) => kind === "internal");

/** A property, method, getter or setter. */
function memberOf(member: Member): string {
  const { kind, name, tsType, functionDef } = member;
  const words = [
    member.accessibility,
    member.isStatic && "static",
    member.isAbstract && "abstract",
    member.readonly && "readonly",
    (kind === "getter" && "get") || (kind === "setter" && "set"),
  ].filter((word) => word);
  const optional = member.optional ? "?" : "";
  const is = functionDef ?? (member.params ? member as Signature : undefined);
  const type = is ? signatureOf(is) : tsType ? `: ${typeOf(tsType)}` : "";
  return [...words, name + optional + type].join(" ");
}

/** The order of names. */
export const byName = (a: { name: string }, b: { name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

/**
 * Each member of a declaration: one line, those with a name sorted by it. Of
 * the members that it `inherits`, it may have some of its own instead.
 */
function membersOf(
  def: Definition,
  inherits: readonly Member[] = [],
): string[] {
  const own = [...def.properties ?? [], ...def.methods ?? []];
  const keyOf = ({ name, isStatic }: Member) => `${isStatic ?? false} ${name}`;
  const keys = new Set(own.map(keyOf));
  const named = [...own, ...inherits.filter((each) => !keys.has(keyOf(each)))]
    .filter((member) => !isInternal(member)).sort(byName);
  const news = (def.constructors ?? []).filter((each) => !isInternal(each));
  return [
    ...(def.callSignatures ?? []).map(signatureOf),
    ...news.map((each) =>
      (each.accessibility ? `${each.accessibility} ` : "") +
      signatureOf(each as Signature).replace(/^/, "new ")
    ),
    ...(def.indexSignatures ?? []).map(({ readonly, params, tsType }) =>
      `${readonly ? "readonly " : ""}[${params.map(paramOf).join(", ")}]: ${
        typeOf(tsType!)
      }`
    ),
    ...named.filter(({ isStatic }) => isStatic).map(memberOf),
    ...named.filter(({ isStatic }) => !isStatic).map(memberOf),
  ];
}

/** What stands behind `extends` and `implements`. */
function parentsOf(def: Definition): string {
  const bases = typeof def.extends === "string"
    ? [def.extends + argumentsOf(def.superTypeParams)]
    : (def.extends ?? []).map(typeOf);
  const roles = (def.implements ?? []).map(typeOf);
  return (bases.length === 0 ? "" : ` extends ${bases.join(", ")}`) +
    (roles.length === 0 ? "" : ` implements ${roles.join(", ")}`);
}

/** The first line of a declaration, by its kind. */
const HEADS: Readonly<
  Record<string, (name: string, def: Definition) => string>
> = {
  class: (name, def) =>
    `${def.isAbstract ? "abstract " : ""}class ${name}${
      typeParamsOf(def.typeParams)
    }${parentsOf(def)}`,
  interface: (name, def) =>
    `interface ${name}${typeParamsOf(def.typeParams)}${parentsOf(def)}`,
  function: (name, def) => `function ${name}${signatureOf(def as Signature)}`,
  variable: (name, { tsType }) =>
    `const ${name}${tsType ? `: ${typeOf(tsType)}` : ""}`,
  typeAlias: (name, def) =>
    `type ${name}${typeParamsOf(def.typeParams)} = ${typeOf(def.tsType!)}`,
  namespace: (name) => `namespace ${name}`,
};

/**
 * The lines of a name's declarations. Where one is a reference, `find` says
 * which module has the declaration, or what that is, to be written here. What a
 * class inherits is said by `inherited`.
 */
export function linesOf(
  { name, declarations }: Symbol,
  find: (place: Place) => string | Symbol,
  inherited: (file: string, def: Definition) => Inherited,
): string[] {
  return declarations.flatMap(({ kind, declarationKind, location, def }) => {
    if (kind === "reference") {
      const found = find(def.target!);
      return typeof found === "string"
        ? [`${name} of ${found}`]
        : linesOf({ ...found, name }, find, inherited);
    }
    const head = HEADS[kind];
    if (!head) throw new Error(`${name}: no way to write a ${kind}`);
    const own = declarationKind === "private" ? "private " : "";
    const { members, wholes } = kind === "class"
      ? inherited(location.filename, def)
      : { members: [], wholes: [] };
    const inner = [
      ...wholes.map((whole) => `all of ${whole}`),
      ...kind === "typeAlias" ? [] : membersOf(def, members),
      ...(def.elements ?? []).toSorted(byName)
        .flatMap((each) => linesOf(each, find, inherited)),
    ];
    return [own + head(name, def), ...inner.map((line) => `  ${line}`)];
  });
}
