#!/usr/bin/env bash
# Builds echarts.min.js anew: bash build.sh [VERSION]. It needs node and npm, and a connection to the npm registry.
# Afterwards look at LICENSES.txt, which has to hold the licences of the versions that are printed, and run the tests
# marked "browser".
set -euo pipefail
version="${1:-6.1.0}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cd "$work"
npm install --no-save --silent "echarts@$version" esbuild@0.28.2
cp "$here/charts_library.js" .
npx --no-install esbuild charts_library.js --bundle --minify --format=iife --global-name=echarts --target=es2020 \
  --define:process.env.NODE_ENV='"production"' --legal-comments=none --outfile="$here/echarts.min.js"
for package in echarts zrender tslib; do
  echo "$package $(node -p "require('./node_modules/$package/package.json').version")"
done
