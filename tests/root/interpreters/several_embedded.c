/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with several interpreters, which call each other: runs a file of Python, whose
 * functions call Perl's by run_perl(TEXT), and those Python's by run_python(TEXT). With WITH_PHP
 * there is run_php(TEXT); with WITH_JAVA run_java(TEXT), where a method of Java has the text run by
 * Python.
 */
#include <stdio.h>

#include <EXTERN.h>
#include <XSUB.h>
#include <perl.h>

void Py_Initialize(void);
int PyRun_SimpleString(const char *text);

static PerlInterpreter *my_perl;

void run_perl(const char *text)
{
	dTHX;

	eval_pv(text, TRUE);
}

void run_python(const char *text)
{
	if (PyRun_SimpleString(text))
		fprintf(stderr, "Python failed: %s\n", text);
}

#ifdef WITH_PHP
int php_embed_init(int argc, char **argv);
int zend_eval_string(const char *text, void *value, const char *name);

void run_php(const char *text)
{
	if (zend_eval_string(text, NULL, "several.php"))
		fprintf(stderr, "PHP failed: %s\n", text);
}
#endif

#ifdef WITH_JAVA
#include <jni.h>

static JNIEnv *java;

/* What several_embedded.java calls. */
static void from_java(JNIEnv *env, jclass class, jstring text)
{
	const char *copy = (*env)->GetStringUTFChars(env, text, NULL);

	(void)class;
	run_python(copy);
	(*env)->ReleaseStringUTFChars(env, text, copy);
}

/* Starts a virtual machine that finds its classes in the directory $CLASSES. */
static jclass start_java(void)
{
	const JNINativeMethod method = { "run_python", "(Ljava/lang/String;)V", from_java };
	JavaVMOption options[2] = { { "-Xmx64m" } };
	JavaVMInitArgs arguments = { .version = JNI_VERSION_1_8,
				     .nOptions = 2,
				     .options = options };
	char path[4096];
	JavaVM *machine;
	jclass class;

	snprintf(path, sizeof(path), "-Djava.class.path=%s", getenv("CLASSES"));
	options[1].optionString = path;
	if (JNI_CreateJavaVM(&machine, (void **)&java, &arguments) != JNI_OK)
		return NULL;
	class = (*java)->FindClass(java, "several_embedded");
	return class && (*java)->RegisterNatives(java, class, &method, 1) == 0 ? class : NULL;
}

void run_java(const char *text)
{
	static jclass class;

	if (!class)
		class = start_java();
	if (class)
		(*java)->CallStaticVoidMethod(java, class,
					      (*java)->GetStaticMethodID(java, class, "outer",
									 "(Ljava/lang/String;)V"),
					      (*java)->NewStringUTF(java, text));
	if (!class || (*java)->ExceptionCheck(java))
		fprintf(stderr, "Java failed: %s\n", text);
}
#endif

static void from_perl(pTHX_ CV *cv)
{
	dXSARGS;
	const char *text = items == 1 ? SvPV_nolen(ST(0)) : "";

	(void)cv;
	run_python(text);
	XSRETURN_EMPTY;
}

static void add_functions(pTHX)
{
	newXS("main::run_python", from_perl, __FILE__);
}

/* PROGRAM FILE: of Python */
int main(int argc, char **argv, char **env)
{
	char *arguments[] = { argv[0], "-e", "0", NULL };
	char text[512];

	PERL_SYS_INIT3(&argc, &argv, &env);
	my_perl = perl_alloc();
	perl_construct(my_perl);
	if (perl_parse(my_perl, add_functions, 3, arguments, NULL) || perl_run(my_perl))
		return 1;
#ifdef WITH_PHP
	php_embed_init(1, argv);
#endif
	Py_Initialize();
	snprintf(text, sizeof(text), "exec(compile(open(%c%s%c).read(), %c%s%c, 'exec'))", '\'',
		 argv[1], '\'', '\'', argv[1], '\'');
	run_python(text);
	return 0;
}
