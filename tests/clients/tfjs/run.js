// Runs tfjs-core's suite as tfjs-node's own runner does (its list of ignored specs included) and writes, for every
// spec, its outcome and the ops it executed: STATUS, NAME, OPS, MESSAGE, separated by tabs.
// usage: run.js OUT [--grep=REGEX], in the folder that setup.sh made.
const fs = require('fs');
const Module = require('module');
const path = require('path');

const out = fs.openSync(process.argv.splice(2, 1)[0], 'w');
const package_ = path.dirname(require.resolve('@tensorflow/tfjs-node/package.json', {paths: [process.cwd()]}));
process.chdir(package_);
const ops = new Set();

// The binding tells which ops run; its functions cannot be replaced, so the backend gets an object before it.
const load = Module._load;
Module._load = function(name, ...rest) {
  const loaded = load.call(this, name, ...rest);
  if (!/tfjs_binding\.node$/.test(name)) return loaded;
  const executeOp = (op, ...args) => {
    ops.add(op);
    return loaded.executeOp(op, ...args);
  };
  return Object.create(loaded, {executeOp: {value: executeOp}});
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
require(path.join(package_, 'dist/run_tests.js'));
