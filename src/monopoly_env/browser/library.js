/**
 * Compiled functions and how they are called: `call(slots)`, with the place of the result, the place
 * of the error, and the arguments, 64 bits each; an array is the words of Numba's array structure.
 *
 * @typedef {Uint8Array | Int16Array | Int32Array | BigInt64Array | Float32Array | Float64Array} Numbers
 * @typedef {{data: Numbers, shape: number[]}} Block numbers that a call reads and writes
 * @typedef {{at: number, shape: number[]}} Kept numbers that stay in the library's memory
 * @typedef {string | [number, number] | {parts: Type[]}} Type a letter; dimensions and bytes of an
 *   item; a tuple
 * @typedef {{name: string, offset: number, type: string, shape: number[]}} Field
 * @typedef {{size: number, fields: Field[]}} Layout
 * @typedef {Record<string, {arguments: Type[], result: string}>} Exports
 * @typedef {{type: Type, value: any, at?: number}} Given an argument, and where its numbers lie
 */

/** @type {Record<string, "getUint8" | "getInt16" | "getInt32" | "getBigInt64" | "getFloat32" | "getFloat64">} */
const GETTERS = {
  b1: "getUint8", i2: "getInt16", i4: "getInt32", i8: "getBigInt64", f4: "getFloat32", f8: "getFloat64",
};

/** The compiled functions. */
export class Library {
  #wasm; #exports; #calls; #functions;
  #room = { at: 0, size: 0 };

  /**
   * @param {any} wasm what the instance exports
   * @param {Exports} exports the types of its functions, in the order of their numbers
   */
  constructor(wasm, exports) {
    this.#wasm = wasm;
    this.#exports = exports;
    wasm._initialize?.();
    const names = Object.keys(exports);
    /** @param {{value: number}} start */
    const table = (start) => {
      const addresses = new Uint32Array(wasm.memory.buffer, start.value, names.length);
      return new Map(names.map((name, number) => [name, addresses[number]]));
    };
    this.#calls = table(wasm.monopoly_calls_any);
    this.#functions = table(wasm.monopoly_functions_any);
  }

  /** The address of a function, for compiled callers. @param {string?} name @returns {bigint} */
  address(name) { return BigInt((name && this.#functions.get(name)) || 0); }

  /** Numbers that stay in the library's memory. @param {Numbers} data @param {...number} shape @returns {Kept} */
  keep(data, ...shape) {
    const at = this.#allocate(data.byteLength);
    new Uint8Array(this.#wasm.memory.buffer).set(bytes(data), at);
    return { at, shape };
  }

  /**
   * Call a function. Blocks are copied into the library's memory and back.
   *
   * @param {string} name
   * @param {any[]} values numbers, blocks, kept numbers, and arrays of those for tuples
   * @returns {any} a number, a boolean or nothing
   */
  call(name, values) {
    /** @type {Exports[string]} */
    const { arguments: types, result } = known("function", name, this.#exports);
    if (types.length !== values.length) {
      throw new TypeError(`${name} takes ${types.length} arguments, not ${values.length}.`);
    }
    const given = types.flatMap((type, i) => flat(type, values[i], `${name}, argument ${i + 1}`));
    const blocks = given.filter(({ value }) => value.data);
    const slots = 2 + sum(given.map(({ type }) => (Array.isArray(type) ? 5 + 2 * type[0] : 1)));
    const start = this.#reserve(8 * slots + sum(blocks.map(({ value }) => value.data.byteLength + 16)));
    const memory = new Uint8Array(this.#wasm.memory.buffer);
    let end = start + 8 * slots;
    for (const block of blocks) {
      block.at = aligned(end);
      memory.set(bytes(block.value.data), block.at);
      end = block.at + block.value.data.byteLength;
    }
    fill(new DataView(memory.buffer), start + 16, given);
    const status = this.#wasm.__indirect_function_table.get(this.#calls.get(name))(start);
    if (status !== 0 && status !== -2) throw new Error(`${name} failed with status ${status}.`);
    const after = new DataView(this.#wasm.memory.buffer); // it may have grown
    for (const { value, at } of blocks) {
      bytes(value.data).set(new Uint8Array(after.buffer, at, value.data.byteLength));
    }
    if (result === "f") return after.getFloat64(start, true);
    if (result === "b") return (after.getUint8(start) & 1) === 1;
    return result === "i" ? Number(after.getBigInt64(start, true)) : undefined;
  }

  /** Room for the arguments of a call. @param {number} size */
  #reserve(size) {
    if (size > this.#room.size) {
      this.#wasm.free(this.#room.at);
      this.#room = { at: this.#allocate(2 * size), size: 2 * size };
    }
    return aligned(this.#room.at);
  }

  /** @param {number} size */
  #allocate(size) {
    const at = this.#wasm.malloc(size + 16) >>> 0;
    if (!at) throw new RangeError(`There is no memory for ${size} bytes more.`);
    return at;
  }
}

/** Write arguments to slots. @param {DataView} view @param {number} slot @param {Given[]} given */
function fill(view, slot, given) {
  /** @param {number | bigint | boolean} word */
  const put = (word) => {
    view.setBigInt64(slot, BigInt(word), true);
    slot += 8;
  };
  for (const { type, value, at } of given) {
    if (Array.isArray(type)) {
      const size = type[1], strides = value.shape.map((/** @type {number} */ _, /** @type {number} */ i) => product(value.shape.slice(i + 1)) * size);
      [0, 0, product(value.shape), size, at ?? value.at, ...value.shape, ...strides].forEach(put);
    } else if (type === "f") {
      view.setFloat64(slot, Number(value), true);
      slot += 8;
    } else {
      put(value);
    }
  }
}

/**
 * An argument, or the items of a tuple one after the other, checked against their types.
 *
 * @param {Type} type @param {any} value @param {string} where
 * @returns {Given[]}
 */
function flat(type, value, where) {
  if (typeof type === "object" && "parts" in type) {
    if (value?.length !== type.parts.length) throw new TypeError(`${where}: expected a tuple of ${type.parts.length}.`);
    return type.parts.flatMap((part, i) => flat(part, value[i], where));
  }
  if (Array.isArray(type)) {
    const [dimensions, size] = type, shape = value?.shape;
    if (shape?.length !== dimensions || (value.data && value.data.byteLength !== product(shape) * size)) {
      throw new TypeError(`${where}: expected an array of ${dimensions} dimensions, ${size} bytes an item.`);
    }
  } else if (!["number", "bigint", "boolean"].includes(typeof value)) {
    throw new TypeError(`${where}: expected a number, not ${value}.`);
  }
  return [{ type, value }];
}

/** Numbers of some shape as an argument. @param {Numbers} data @param {...number} shape @returns {Block} */
export function block(data, ...shape) { return { data, shape }; }

/** A record as an array of one. @param {Uint8Array} record @returns {Block} */
export function one(record) { return block(record, 1); }

/** One of the items of a table, or an error that names all. @param {string} what @param {string} name @param {any} table */
export function known(what, name, table) {
  if (Object.hasOwn(table, name)) return table[name];
  throw new RangeError(`Unknown ${what} ${name}. Known: ${Object.keys(table).join(", ")}.`);
}

/** The value of a field of a record. @param {Uint8Array} record @param {Field} field @returns {any} */
export function valueOf(record, { offset, type, shape }) {
  const view = new DataView(record.buffer, record.byteOffset), size = Number(type.slice(1));
  /** @param {number} at @param {number[]} left @returns {any} */
  const read = (at, left) => {
    if (!left.length) return Number(view[GETTERS[type]](at, true));
    const [length, ...rest] = left, step = product(rest) * size;
    return Array.from({ length }, (_, i) => read(at + i * step, rest));
  };
  return read(offset, shape);
}

/** Write to a field of a record; to an array from its first number on. @param {Uint8Array} record @param {Field} field @param {number | number[]} value */
export function write(record, { offset, type }, value) {
  const view = /** @type {any} */ (new DataView(record.buffer, record.byteOffset)), size = Number(type.slice(1));
  const put = GETTERS[type].replace("get", "set");
  [value].flat().forEach((number, i) => view[put](offset + i * size, type === "i8" ? BigInt(number) : number, true));
}

/** A record as an object. @param {Uint8Array} record @param {Layout} layout @returns {any} */
export function fieldsOf(record, layout) {
  /** @type {any} */
  const found = {};
  for (const field of layout.fields) {
    const path = field.name.split("."), last = path.pop() ?? "";
    path.reduce((inner, name) => (inner[name] ??= {}), found)[last] = valueOf(record, field);
  }
  return found;
}

/** @param {Numbers} data */
function bytes(data) { return new Uint8Array(data.buffer, data.byteOffset, data.byteLength); }

/** @param {number} at */
function aligned(at) { return (at + 15) & ~15; }

/** @param {number[]} numbers */
function product(numbers) { return numbers.reduce((a, b) => a * b, 1); }

/** @param {number[]} numbers */
export function sum(numbers) { return numbers.reduce((a, b) => a + b, 0); }
