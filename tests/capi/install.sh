#!/bin/sh
# Installs the library into a fresh prefix and builds and runs the examples against it, by pkg-config and by CMake.
# usage: install.sh BUILD SOURCE WORK DATA
set -e
build=$(cd "$1" && pwd) source=$(cd "$2" && pwd) work=$3 data=$(cd "$4" && pwd)
rm -rf "$work"
mkdir -p "$work/cmake"
prefix=$(cd "$work" && pwd)/prefix
cmake --install "$build" --prefix "$prefix" --component capi > /dev/null
libdir=$(dirname "$(find "$prefix" -name libtensorflow.so)")
export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"
flags=$(pkg-config --cflags --libs tensorflow)
cc -std=c99 -pedantic -Wall -Wextra -Werror -o "$work/session" "$source/examples/c/session.c" $flags
c++ -std=c++17 -Wall -Wextra -Werror -o "$work/eager" "$source/examples/c/eager.cc" $flags

cat > "$work/cmake/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.20)
project(example CXX)
find_package(tensorflow REQUIRED)
add_executable(eager $source/examples/c/eager.cc)
target_link_libraries(eager tensorflow::tensorflow)
END
cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
cmake --build "$work/cmake/build" > /dev/null

for program in "$work/eager" "$work/cmake/build/eager"; do
  test "$("$program")" = "7.5 0"
done
"$work/session" "$data/cycle/keras_dense_sm" serving_default_keras_tensor StatefulPartitionedCall_1 32
echo "installed, built and run"
