// SPDX-License-Identifier: Apache-2.0
// The version of weir. The lint holds it to project(VERSION) of the root CMakeLists.txt.
#ifndef WEIR_RUNTIME_VERSION_H
#define WEIR_RUNTIME_VERSION_H

#define WEIR_VERSION "0.1.0"

#endif
