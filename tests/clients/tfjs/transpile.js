// tfjs-core publishes its tests as ES modules, which jasmine's loader does not take: makes CommonJS of them.
const fs = require('fs');
const path = require('path');
const ts = require(require.resolve('typescript', {paths: [process.cwd()]}));

const options = {compilerOptions: {module: 'commonjs', target: 'es2019', allowJs: true}};
function visit(folder) {
  for (const entry of fs.readdirSync(folder, {withFileTypes: true})) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      visit(file);
    } else if (/\.js$/.test(file) && !/(^tf-core\.|\.min\.js$)/.test(entry.name)) {
      const source = fs.readFileSync(file, 'utf8');
      if (/^\s*(import|export)\b/m.test(source)) fs.writeFileSync(file, ts.transpileModule(source, options).outputText);
    }
  }
}
visit(path.join(process.cwd(), 'node_modules/@tensorflow/tfjs-core/dist'));
