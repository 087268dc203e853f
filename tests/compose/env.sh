# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # used by those who source it
#
# What the scripts of this folder share. Sourced, never run.
#
# Names of images: where a registry answers, images are the public ones; where none does, stand-ins with
# the prefix weir-test/ are made of Debian's and Maven's packages and kept. Builds and plugins lie in
# ${XDG_CACHE_HOME:-~/.cache}/weir/docker.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weir/docker
mkdir -p "$cache"
export DOCKER_BUILDKIT=1
export WEIR_HTTP_PORT=0 REGISTRY_PORT=0 # such as are free

die() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}

# Plugins of the docker client: the user's own, else those that plugins.sh has put beside the cache.
if [ -d "$cache/config/cli-plugins" ]; then
    export DOCKER_CONFIG=$cache/config
fi

has_image() {
    docker image inspect "$1" >/dev/null 2>&1
}
