#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes `docker compose` and `docker buildx` work: where the client lacks them, they are unpacked from
# Debian 13's packages into the cache, with a list of sources of their own. Installed packages and apt's
# set-up stay as they are.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/env.sh"

is_complete() {
    docker compose version >/dev/null 2>&1 && docker buildx version >/dev/null 2>&1
}
! is_complete || exit 0

# shellcheck disable=SC2016 # apt's own variable
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE)' |
    awk '/\/debian\/?$/ {print; exit}')}
[ -n "$mirror" ] || die "apt knows no Debian mirror; set DEBIAN_MIRROR"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/lists/partial" "$work/archives/partial"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" \
    >"$work/sources.list"
options=(-o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$work/lists"
    -o Dir::Cache::archives="$work/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o Dir::State::status=/dev/null)
[ "$(id -u)" != 0 ] || options+=(-o APT::Sandbox::User=root)
apt-get -qq "${options[@]}" update
(cd "$work" && apt-get -qq "${options[@]}" download docker-compose docker-buildx)
for package in "$work"/*.deb; do
    dpkg-deb -x "$package" "$work/unpacked"
done
# The user's own settings (proxies, credentials) go on to count.
config=$cache/config
mkdir -p "$config/cli-plugins"
own=${DOCKER_CONFIG:-$HOME/.docker}
[ "$own" = "$config" ] || [ ! -f "$own/config.json" ] || cp "$own/config.json" "$config/"
find "$work/unpacked" -path '*/cli-plugins/*' -type f -exec cp {} "$config/cli-plugins/" \;
export DOCKER_CONFIG=$config
is_complete || die "docker compose and docker buildx still do not work"
