#!/usr/bin/env bash
# Builds echarts.min.js anew: bash build.sh. It needs node and npm, and a connection to the npm registry.
# What is installed, and its checksums, is in package-lock.json: the same files, and so the same echarts.min.js.
#
# For another version, change package.json, write the lock file anew in this folder,
#   npm install --package-lock-only --omit-lockfile-registry-resolved
# and run this. Afterwards look at LICENSES.txt, which has to hold the licences of the versions that are printed, and
# run the tests marked "browser".
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cd "$work"
cp "$here/package.json" "$here/package-lock.json" "$here/charts_library.js" .
npm ci --silent
npx --no-install esbuild charts_library.js --bundle --minify --format=iife --global-name=echarts --target=es2020 \
  --define:process.env.NODE_ENV='"production"' --legal-comments=none --outfile="$here/echarts.min.js"
for package in echarts zrender tslib; do
  echo "$package $(node -p "require('./node_modules/$package/package.json').version")"
done
cd "$here"
sha256sum echarts.min.js | tee SHA256SUMS
