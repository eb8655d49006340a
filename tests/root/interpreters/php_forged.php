<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Calls getpid() while the chain of frames is bent, as a hostile program could: php php_forged.php. Each
// call is from the function named after the change.
$ffi = FFI::cdef('
	typedef struct frame { char before[48]; struct frame *previous; } frame;
	typedef struct { char before[488]; frame *current; } globals;
	extern globals executor_globals;
	int getpid(void);');

echo "ready ", getmypid(), "\n";
fgets(STDIN);

/* Bends the link of the calling function's frame: to itself, or to an address. */
function bend($to)
{
	global $ffi;
	$caller = $ffi->executor_globals->current->previous;
	$before = $caller->previous;
	$caller->previous = $to === null ? $caller : $ffi->cast('frame *', $to);
	$ffi->getpid();
	$caller->previous = $before;
}

function circle() { bend(null); }
function wild() { bend(0x123456789abc); }
function whole() { global $ffi; $ffi->getpid(); }

circle();
wild();
whole();
