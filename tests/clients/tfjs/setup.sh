#!/bin/sh
# Prepares tfjs-core's test suite on tfjs-node, its native binding built against our headers and library.
# usage: setup.sh WORK LIB INCLUDE
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=$1 lib=$(cd "$2" && pwd) include=$(cd "$3" && pwd)
mkdir -p "$work"
cd "$work"
[ -f package.json ] || echo '{"name": "tare-tfjs-suite", "private": true}' > package.json
if [ ! -f installed ]; then
  npm install --silent --ignore-scripts --no-audit --no-fund @tensorflow/tfjs-node@4.22.0 \
    @tensorflow/tfjs-core@4.22.0 jasmine@4.2.1 yargs@16.2.0 tmp@0.0.33 node-fetch@2.6.1 node-gyp@10 typescript@5.0.4
  node "$here/transpile.js"
  touch installed
fi
package=node_modules/@tensorflow/tfjs-node
mkdir -p $package/deps/lib
ln -sfn "$include" $package/deps/include
ln -sf "$lib"/libtensorflow* $package/deps/lib/
binding=$package/lib/napi-v8/tfjs_binding.node
# Again only when a header changed: the library itself is found when the binding is loaded.
if [ ! -f $binding ] || [ -n "$(find "$include" -newer $binding -name '*.h' | head -1)" ]; then
  (cd $package && CXXFLAGS=-std=c++17 ../../.bin/node-gyp rebuild --silent --nodedir=/usr \
    --module_name=tfjs_binding --module_path="$PWD/lib/napi-v8" --napi_version=9 --napi_build_version=8)
fi
