// SPDX-License-Identifier: GPL-2.0-or-later
// rust_names_v0 MS: the same names, of the newer mangling.
// cflags: -C symbol-mangling-version=v0
include!("rust_names.rs");
