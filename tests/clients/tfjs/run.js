// Runs tfjs-core's suite as tfjs-node's own runner does (its list of ignored specs included) and writes, for every
// spec, its outcome and the ops it executed: STATUS, NAME, OPS, MESSAGE, separated by tabs. Every distinct execution goes
// to OUT.signatures: OP, INPUTS and ATTRIBUTES that are types, CODE of the status (see signatures.txt).
// usage: run.js OUT [--grep=REGEX], in the folder that setup.sh made.
const fs = require('fs');
const Module = require('module');
const path = require('path');

const outPath = process.argv.splice(2, 1)[0];
const out = fs.openSync(outPath, 'w');
const package_ = path.dirname(require.resolve('@tensorflow/tfjs-node/package.json', {paths: [process.cwd()]}));
process.chdir(package_);
const ops = new Set();  // of the current spec
const signatures = new Set();
const dtypes = new Map();  // of tensors by id

// The binding tells which ops run; its functions cannot be replaced, so the backend gets an object before it.
const load = Module._load;
Module._load = function(name, ...rest) {
  const loaded = load.call(this, name, ...rest);
  if (!/tfjs_binding\.node$/.test(name)) return loaded;
  const createTensor = (shape, dtype, ...args) => {
    const id = loaded.createTensor(shape, dtype, ...args);
    dtypes.set(id, dtype);
    return id;
  };
  const executeOp = (op, attributes, inputs, ...args) => {
    ops.add(op);
    const types = attributes.filter(a => a.type === loaded.TF_ATTR_TYPE).map(a => `[${a.name}=${a.value}]`);
    const record = code => signatures.add([op, inputs.map(i => dtypes.get(i) + ',').join('') + types.join(''), code].join('\t'));
    try {
      const outputs = loaded.executeOp(op, attributes, inputs, ...args);
      for (const o of outputs) dtypes.set(o.id, o.dtype);
      record(0);
      return outputs;
    } catch (e) {
      record((/Invalid TF_Status: (\d+)/.exec(e.message) || [0, -1])[1]);
      throw e;
    }
  };
  return Object.create(loaded, {createTensor: {value: createTensor}, executeOp: {value: executeOp}});
};

const Jasmine = require(require.resolve('jasmine', {paths: [package_]}));
const execute = Jasmine.prototype.execute;
Jasmine.prototype.execute = function(...args) {
  this.addReporter({
    specStarted() { ops.clear(); },
    specDone(spec) {
      const message = spec.failedExpectations.map(f => f.message).join(' | ').slice(0, 500).replace(/\s+/g, ' ');
      fs.writeSync(out, [spec.status, spec.fullName, [...ops].join(' '), message].join('\t') + '\n');
    },
  });
  return execute.apply(this, args);
};
process.on('exit', () => fs.writeFileSync(outPath + '.signatures', [...signatures].sort().join('\n') + '\n'));
require(path.join(package_, 'dist/run_tests.js'));
