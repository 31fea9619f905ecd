(function () {
  "use strict";
  const g = globalThis, host = g.__host;
  delete g.__host;
  const parse = JSON.parse, stringify = JSON.stringify, apply = Reflect.apply, string = String;
  const own = Object.getOwnPropertyDescriptor, hasOwn = Object.hasOwn, define = Object.defineProperty, freeze = Object.freeze;
  const promise = Promise, isInstance = Function.prototype[Symbol.hasInstance], TypeErr = TypeError, RangeErr = RangeError;

  const wanted = (v, what) => {
    if (typeof v !== "string") throw new TypeErr(what + " must be a string");
    return v;
  };
  const methods = {
    __proto__: null,
    list: () => parse(host("list", "", "")),
    search: (query) => parse(host("search", wanted(query, "the query of tools.search"), "")),
    describe: (name) => parse(host("describe", wanted(name, "the name in tools.describe"), "")),
    budget: () => parse(host("budget", "", "")),
    call: (name, args) => {
      wanted(name, "the name in tools.call");
      if (args === undefined) throw new TypeErr("tools.call needs the tool's arguments: an object, {} for none");
      const text = stringify(args);
      if (text === undefined) throw new TypeErr("the arguments of tools.call cannot be written as JSON");
      return parse(host("call", name, text));
    },
  };
  for (const name in methods) freeze(methods[name]);
  define(g, "tools", { value: freeze(methods), writable: false, enumerable: true, configurable: false });

  const longest = 10000000;
  const bound = (proto, name) => {
    const f = proto[name];
    if (typeof f !== "function") return;
    const held = {
      [name](...args) {
        if (this !== null && this !== undefined && this.length > longest) {
          throw new RangeErr(name + ": more than " + longest + " elements");
        }
        return apply(f, this, args);
      },
    }[name];
    define(proto, name, { value: held, writable: true, enumerable: false, configurable: true });
  };
  const looping = ["concat", "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex", "flat", "flatMap",
    "forEach", "includes", "indexOf", "join", "lastIndexOf", "map", "reduce", "reduceRight", "reverse", "shift", "slice", "some", "sort", "splice",
    "toLocaleString", "toReversed", "toSorted", "toSpliced", "toString", "unshift", "values", "with"];
  for (let i = 0; i < looping.length; i++) bound(Array.prototype, looping[i]);

  const data = (o, key) => {
    const d = own(o, key);
    return d !== undefined && hasOwn(d, "value") && typeof d.value === "string" ? d.value : "";
  };
  const thrown = (e) => {
    let message = "", stack = "";
    try {
      if (typeof e === "symbol") message = "a symbol was thrown";
      else if (e === null || typeof e !== "object" && typeof e !== "function") message = string(e);
      else {
        message = data(e, "message");
        stack = data(e, "stack");
      }
    } catch (_) {
      message = "";
    }
    return "E[" + stringify(message) + "," + stringify(stack) + "]";
  };
  const run = (body) => {
    delete g.__run;
    try {
      const value = body();
      if (apply(isInstance, promise, [value])) return "P";
      const text = value === undefined ? "null" : stringify(value);
      return text === undefined ? "U" : "V" + text;
    } catch (e) {
      return thrown(e);
    }
  };
  define(g, "__run", { value: run, writable: false, enumerable: false, configurable: true });
})();
