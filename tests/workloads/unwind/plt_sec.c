// SPDX-License-Identifier: GPL-2.0-or-later
// cflags: -O2 -fomit-frame-pointer -fcf-protection=full -Wl,-z,lazy,-z,ibtplt
/* The same with two-part entries, .plt and .plt.sec. */
#include "plt_lazy.c"
