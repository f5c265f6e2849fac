// Predicts with a model file of simplexboost, in browsers and in Node (20.12 or later), without dependencies.
//
//   import { load } from "./model.js";
//   const model = await load();          // or load(url), load(an ArrayBuffer)
//   model.predict(row); model.probabilities(row); model.scores(row);
//
// A row is an array of values in the order of the columns, or an object with the columns as keys. null, undefined and
// NaN mean missing; dates are Date objects, days since 1970 or ISO text such as "2024-05-31T12:00:00", in UTC where it has
// no zone; durations are days. `model.classes` are the labels, `model.columns` the names.
// Written by simplexboost.export.javascript; docs/files.md of simplexboost describes the format of model files.

const MODEL = null; // the model file beside this module

/** Read a model: from the file beside this module, a URL, an ArrayBuffer or a Uint8Array. */
export async function load(source = new URL(MODEL, import.meta.url)) {
  const members = await unzip(source instanceof ArrayBuffer || ArrayBuffer.isView(source) ? source : await read(source));
  const header = JSON.parse(new TextDecoder().decode(members["header.json"] ?? new TextEncoder().encode("{}")));
  if (header.format !== "simplexboost" || header.version !== 2)
    throw new Error("This is no model file of simplexboost, or one of a newer version of the format.");
  const arrays = {};
  for (const [name, about] of Object.entries(header.arrays)) {
    if ((await sha256(members[name])) !== about.sha256)
      throw new Error(`The model file is damaged: the checksum of '${name}' does not match.`);
    arrays[name] = typed(members[name], about.dtype);
    arrays[name].shape = about.shape;
  }
  return new Model(header, arrays);
}

async function read(source) {
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:") return (await import("node:fs/promises")).readFile(url);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} cannot be read: ${answer.status}.`);
  return answer.arrayBuffer();
}

// ---- the file: a zip of a JSON header and raw arrays -----------------------------------------------------------------

async function unzip(source) {
  const bytes = source instanceof ArrayBuffer ? new Uint8Array(source)
    : new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("The model file is damaged: it is not a zip archive.");
  const members = {};
  let total = 0;
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const [method, size] = [view.getUint16(at + 10, true), view.getUint32(at + 20, true)];
    const [name, extra, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
    const local = view.getUint32(at + 42, true);
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const packed = bytes.subarray(begin, begin + size);
    const member = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name)), full = view.getUint32(at + 24, true);
    if (Object.hasOwn(members, member)) throw new Error("The model file is damaged: it holds two members of the same name.");
    total += full;
    if ((member === "header.json" && full > 2 ** 20 + 32 * bytes.length) || total > 2 ** 24 + 128 * bytes.length)
      throw new Error("The model file is damaged: it declares larger contents than a file of its size may hold.");
    members[member] = method === 0 ? packed : await inflated(packed, full);
    at += 46 + name + extra + comment;
  }
  return members;
}

/** Compressed bytes, inflated; no further than to the size that they should have. */
async function inflated(packed, size) {
  let total = 0;
  const bounded = new TransformStream({
    transform(piece, out) {
      if ((total += piece.length) > size) throw new Error("The model file is damaged: a member is larger than it says.");
      out.enqueue(piece);
    },
  });
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(bounded);
  const whole = new Uint8Array(await new Response(stream).arrayBuffer());
  if (whole.length < size) throw new Error("The model file is damaged: a member is smaller than it says.");
  return whole;
}

async function sha256(bytes) {
  const digest = await globalThis.crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function typed(bytes, dtype) {
  const kinds = { "<f8": Float64Array, "<f4": Float32Array, "<i8": BigInt64Array, "<i4": Int32Array, "<u4": Uint32Array,
    "<u2": Uint16Array, "|u1": Uint8Array, "|i1": Int8Array };
  const kind = kinds[dtype] ?? Uint8Array; // other types occur in the history only, which prediction does not read
  const values = new kind(bytes.slice().buffer);
  return kind === BigInt64Array ? Float64Array.from(values, Number) : values;
}

function value(json) {
  if (json === null || typeof json !== "object") return json;
  if ("int" in json) return BigInt(json.int);
  if ("float" in json) return { nan: NaN, inf: Infinity, "-inf": -Infinity }[json.float];
  if ("array" in json) return json.array.values.flat().map(value);
  if ("list" in json || "tuple" in json) return (json.list ?? json.tuple).map(value).flat();
  if ("scalar" in json) return value(json.scalar.values[0]);
  return Object.values(json)[0];
}

function starts(sizes) {
  const out = new Float64Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) out[i + 1] = out[i] + sizes[i];
  return out;
}

// ---- the model -------------------------------------------------------------------------------------------------------

/** The scores of classes of which some count as one: half the logarithm of the sum of exp(2u) over each. */
function merged(U, owner) {
  if (!owner) return U;
  const members = [];
  U.forEach((u, k) => (members[Number(owner[k])] ??= []).push(u));
  return members.map((some) => {
    const top = Math.max(...some);
    return some.length === 1 ? top : top + Math.log(some.reduce((sum, u) => sum + Math.exp(2 * (u - top)), 0)) / 2;
  });
}

const TIED = 1e-6; // scores that differ by no more than this part of the largest one are tied: so much may be rounding

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/;
const HELD = { duration: "durations in fit: pass days", time: "times of day in fit: pass parts of a day" };

class Model {
  constructor(header, arrays) {
    if (!(arrays.Y || arrays.canonical) || !arrays.present) throw new Error(`a ${header.class} is no sum of trees.`);
    this.classes = header.classes.values.map(value);
    this.columns = header.feature_names_in.length ? header.feature_names_in : null;
    this.p = header.n_features_in;
    this.threshold = header.threshold ? header.threshold.map(value) : null;
    this.order = header.class_order ?? null;
    this.loss = header.loss.part;
    this.lossParameters = Object.fromEntries(Object.entries(header.loss.parameters).map(([k, v]) => [k, value(v)]));
    this.kinds = header.feature_kinds ?? [];
    this.categories = (header.categories ?? Array(this.p).fill(null)).map(
      (about) => about && new Map(about.values.map((one, number) => [value(one), number])));
    this.arrays = arrays;
    this.d = arrays.Y ? arrays.Y.shape[1] : Number(arrays.canonical[0]);  // many codewords are canonical ones
    this.present = Array.from(arrays.present.keys()).filter((k) => arrays.present[k]);
    this.exact = !arrays.merged && (!arrays.Y || (arrays.Y.shape[0] === this.d && arrays.Y.every(
      (y, i) => y === Number(i % (this.d + 1) === 0)))); // canonical codewords
    this.temperature = arrays.temperature ? arrays.temperature[0] : 1;
    this.roots = starts(arrays.n_nodes);
    this.sets = starts(arrays.n_sets);
    this.terms = starts(arrays.columns ? Array.from(arrays.kind.keys(), (t) => arrays.value_shape[2 * t])
      : Array.from(arrays.kind.keys(), (t) => arrays.value_shape[2 * t] * arrays.value_shape[2 * t + 1]));
    this.rows = arrays.columns && starts(arrays.row_sizes);
    this.nodes = new DataView(arrays.nodes.buffer);
  }

  /** The label of a row; an array of 0 and 1 for every class if examples may have several labels. */
  predict(row) {
    const U = this.scores(row);
    if (this.threshold) return Array.from(this.#above(U), (u) => Number(u > 0));
    if (!this.order) return this.classes[this.#best(U)];
    const P = this.probabilities(row); // of ordered classes, the median
    const total = this.order.reduce((sum, k) => sum + P[k], 0);
    let upTo = 0;
    return this.classes[this.order.find((k) => 2 * (upTo += P[k]) >= (1 - TIED) * total)];
  }

  /** The probability of every class. */
  probabilities(row) {
    const U = this.scores(row);
    if (this.threshold) return this.#above(U).map((u) => sigmoid((this.loss === "OneVsAll" ? 4 : 2) * u));
    const P = new Float64Array(U.length);
    const some = this.present.length > 1 ? link(this.loss, this.lossParameters, this.present.map((k) => U[k])) : [1];
    this.present.forEach((k, i) => { P[k] = some[i]; });
    return P;
  }

  /** The score of every class, U = F Yᵀ / 2. */
  scores(row) {
    const [F, { Y }] = [this.#predictor(this.#numbers(row)), this.arrays];
    const of = (k) => (Y ? F.reduce((sum, f, j) => sum + 0.5 * f * Y[k * this.d + j], 0) : 0.5 * F[k]);
    const some = merged(Array.from({ length: Y ? Y.shape[0] : this.d }, (_, k) => of(k)), this.arrays.merged);
    const U = new Float64Array(this.classes.length).fill(lowest(some) - 30);
    this.present.forEach((k, i) => { U[k] = some[i]; });
    return U;
  }

  // The first of the best classes; of scores that are products with codewords, rounding aside.
  #best(U) {
    if (this.exact) return U.indexOf(highest(U));
    const some = this.present.map((k) => U[k]);
    const least = highest(some) - TIED * highest(some.map(Math.abs));
    return this.present[some.findIndex((u) => u >= least)];
  }

  #above(U) {
    const cut = U.reduce((sum, u, k) => sum + u * this.threshold[k], this.threshold[U.length]);
    return U.map((u) => u - cut);
  }

  #numbers(row) {
    const isArray = Array.isArray(row) || ArrayBuffer.isView(row);
    if (!isArray && !this.columns) throw new Error("the columns have no names: pass an array.");
    if (isArray && row.length !== this.p) throw new Error(`the row has ${row.length} values; the model has ${this.p} columns.`);
    const absent = isArray ? undefined : this.columns.find((name) => !Object.hasOwn(row, name));
    if (absent !== undefined) throw new Error(`the row has no column '${absent}'.`);
    return Float64Array.from({ length: this.p }, (_, j) => {
      const given = isArray ? row[j] : row[this.columns[j]];
      const known = this.categories[j];
      if (given === null || given === undefined || Number.isNaN(given)) return NaN;
      if (known) return this.#category(known, typeof given === "boolean" ? Number(given) : given, j);
      if (typeof given === "string") return this.#days(given, j);
      return given instanceof Date ? given.getTime() / 864e5 : Number(given);
    });
  }

  #category(known, given, j) {
    const [first] = known.keys();
    if (first !== undefined && (typeof first === "string") !== (typeof given === "string"))
      throw this.#wrong(given, j, `${typeof first === "string" ? "text" : "numbers"} as categories in fit`);
    return known.get(given) ?? (known.size === 253 ? 253 : NaN);
  }

  // The days of a date in the form of ISO 8601; other text is refused.
  #days(text, j) {
    const kind = this.kinds[j] ?? "number";
    if (kind !== "date") throw this.#wrong(text, j, HELD[kind] ?? "numbers in fit");
    const [, day, time = "00:00", zone = "Z"] = ISO.exec(text) ?? [];
    const [midnight, moment] = [new Date(`${day}T00:00Z`), Date.parse(`${day}T${time}${zone}`)];
    if (Number.isNaN(moment) || midnight.toISOString().slice(0, 10) !== day)
      throw this.#wrong(text, j, 'dates in fit: pass a Date, days since 1970 or text such as "2024-05-31T12:00:00"');
    return moment / 864e5;
  }

  #wrong(given, j, held) {
    const found = typeof given === "string" ? `text, '${given}'` : given;
    return new Error(`column ${this.columns?.[j] ?? j} holds ${found}; it held ${held}.`);
  }

  #leaf(tree, x) {
    const { nodes } = this;
    for (let at = this.roots[tree]; ;) {
      const [feature, left] = [nodes.getInt32(24 * at + 8, true), nodes.getInt32(24 * at + 12, true)];
      if (feature < 0) return left;
      const [v, set] = [x[feature], nodes.getInt32(24 * at + 20, true)];
      const bit = (this.sets[tree] + set) * 32 + (v >> 3);
      const goesLeft = Number.isNaN(v) ? nodes.getUint8(24 * at + 17)
        : set < 0 ? v <= nodes.getFloat64(24 * at, true) : (this.arrays.category_sets[bit] >> (v & 7)) & 1;
      at = this.roots[tree] + left + (goesLeft ? 0 : 1);
    }
  }

  #predictor(x) {
    const { coordinate, columns, kind, linear_centre, linear_feature, step, value_shape, values } = this.arrays;
    const F = new (this.arrays.Y ?? values).constructor(this.d);
    const round = F instanceof Float32Array ? Math.fround : (number) => number;
    for (let t = 0, tree = 0, line = 0; t < kind.length; t++) {
      const [factor, width, first] = [this.temperature * step[t], value_shape[2 * t + 1], Math.max(coordinate[t], 0)];
      if (kind[t]) {
        const away = x[linear_feature[line]] - linear_centre[line++];
        for (let j = 0, at = this.terms[t]; j < width; j++, at++)
          F[first + j] += factor * ((Number.isNaN(away) ? 0 : away) * values[at] + values[at + width]);
      } else if (columns) {
        const at = this.terms[t] + this.#leaf(tree++, x);
        for (let i = this.rows[at]; i < this.rows[at + 1]; i++) F[columns[i]] += round(values[i] * round(factor));
      } else {
        const at = this.terms[t] + this.#leaf(tree++, x) * width;
        for (let j = 0; j < width; j++) F[first + j] += round(values[at + j] * round(factor));
      }
    }
    return F;
  }
}

// Math.max(...numbers) would be a call with as many arguments, of which there is a limit.
const highest = (numbers) => numbers.reduce((a, b) => Math.max(a, b), -Infinity);
const lowest = (numbers) => numbers.reduce((a, b) => Math.min(a, b), Infinity);

// ---- links from scores to probabilities ------------------------------------------------------------------------------

const sigmoid = (x) => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)));
const logSigmoid = (x) => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x)));

function softmax(U) {
  const top = U.reduce((a, b) => Math.max(a, b)); // as arguments of Math.max, many classes would be too many
  const E = U.map((u) => Math.exp(u - top));
  const sum = E.reduce((a, b) => a + b, 0);
  return E.map((e) => e / sum);
}

function link(loss, parameters, U) {
  const rate = { Exponential: 1, MM: 2, Logistic: 2, Savage: 2 }[loss];
  if (rate && parameters.cost_matrix) return walk(loss, rate, parameters.cost_matrix, U);
  if (loss === "Savage") return savage(U);
  if (loss === "OneVsAll") return softmax(U.map((u) => logSigmoid(4 * u)));
  if (loss === "OwnScoreExponential")
    return softmax(U.map((u) => u * (parameters.alpha === "1/K" ? 2 / U.length : 2 * parameters.alpha)));
  if (loss === "PotentialLoss" && parameters.loss === "zero-one") {
    const sum = U.reduce((a, b) => a + b, 0);
    return U.map((u) => (sum > 0 ? u / sum : 1 / U.length));
  }
  return softmax(U.map((u) => u * (loss === "MM" || loss === "PotentialLoss" ? 4 : 2)));
}

// 1 / (1 − p_k) over its sum, with p = softmax(2U); the sum over the others loses no digits where p is near 1.
function savage(U) {
  const top = highest(U), best = U.indexOf(top);
  const E = U.map((u, k) => (k === best ? 0 : Math.exp(2 * (u - top))));
  const second = highest(U.filter((_, k) => k !== best));
  const rest = 2 * (second - top) + Math.log(U.reduce((sum, u, k) => sum + (k === best ? 0 : Math.exp(2 * (u - second))), 0));
  return softmax(U.map((_, k) => (k === best ? -rest : -Math.log1p(Math.max(Math.exp(rest) - E[k], 0)))));
}

// Under costs C (K, K): the stationary distribution of a walk on the classes, found by eliminating them one by one.
function walk(loss, rate, C, U) {
  const K = U.length, top = highest(U);
  const order = Array.from(U.keys()).sort((i, j) => U[j] - U[i]);
  const most = highest(C.filter((_, i) => i % (K + 1) !== 0));
  const b = order.map((k) => Math.exp(rate * (U[k] - top)));
  const T = order.map((l) => order.map((k) => Math.max(C[l * K + k] / most, 1e-30)));
  const leaving = Array(K).fill(0);
  for (let k = K - 1; k > 0; k--) {
    for (let j = 0; j < k; j++) leaving[k] += T[k][j] * b[j];
    for (let l = 0; l < k; l++) for (let j = 0; j < k; j++) T[l][j] += T[l][k] * (b[k] / leaving[k]) * T[k][j];
  }
  const y = Array(K).fill(1);
  for (let k = 1; k < K; k++) {
    y[k] = 0;
    for (let l = 0; l < k; l++) y[k] += b[l] * y[l] * T[l][k];
    y[k] /= leaving[k];
  }
  const eta = Array(K);
  order.forEach((l, i) => {
    const terms = U.map((u, k) => (k === l || !C[l * K + k] ? -Infinity : Math.log(C[l * K + k]) + rate * (u - U[l])));
    const high = highest(terms);
    const s = high + Math.log(terms.reduce((sum, t) => sum + Math.exp(t - high), 0));
    const weight = { Logistic: () => logSigmoid(s), Savage: () => 2 * logSigmoid(s) + logSigmoid(-s) }[loss] ?? (() => s);
    eta[l] = Math.log(y[i]) + 2 * rate * (U[l] - top) + s - weight();
  });
  return softmax(eta);
}
