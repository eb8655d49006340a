/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with Perl in it: runs the file, then calls Handler::handle three times from C, the
 * second time so that exceptions end there.
 */
#include <EXTERN.h>
#include <perl.h>

static void no_modules(pTHX)
{
}

int main(int argc, char **argv, char **env)
{
	char *arguments[] = { argv[0], argv[1], NULL };
	PerlInterpreter *my_perl;

	PERL_SYS_INIT3(&argc, &argv, &env);
	my_perl = perl_alloc();
	perl_construct(my_perl);
	if (perl_parse(my_perl, no_modules, 2, arguments, NULL) || perl_run(my_perl))
		return 1;
	for (int i = 0; i < 3; i++) {
		dSP;

		PUSHMARK(SP);
		call_pv("Handler::handle", G_DISCARD | (i == 1 ? G_EVAL : 0));
	}
	perl_destruct(my_perl);
	perl_free(my_perl);
	PERL_SYS_TERM();
	return 0;
}
