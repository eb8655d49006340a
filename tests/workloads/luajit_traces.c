// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LuaJIT in two threads, each with a state of its own, from different depths of C functions: its
 * traces call C functions, and of the second thread one that calls back into Lua. luajit_traces
 * SECONDS [exits]: with `exits`, code that leaves its traces often. Exit status 77: there is no
 * LuaJIT. clone3;start_thread;work;(second;)?first;call;lua_pcall;... is each thread's stack.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define GLOBALS (-10002)

typedef struct lua_State lua_State;

/* Functions of the library, whose headers the build need not have. */
static lua_State *(*new_state)(void);
static void (*open_libraries)(lua_State *);
static int (*load_string)(lua_State *, const char *);
static int (*protected_call)(lua_State *, int, int, int);
static void (*push_number)(lua_State *, double);
static void (*push_pointer)(lua_State *, void *);
static void (*set_field)(lua_State *, int, const char *);
static const char *(*to_string)(lua_State *, int, size_t *);

static const char script[] =
	"local ffi = require 'ffi'\n"
	"local plain = ffi.cast('int (*)(int)', plain)\n"
	"local twice = ffi.cast('int (*)(int (*)(int), int)', twice)\n"
	"if exits == 1 then jit.opt.start('hotexit=10000') end\n"
	"local function leaf(n)\n"
	"	local s = 0\n"
	"	for i = 1, n do\n"
	"		if i % 3 == 0 then s = s + math.sin(i)\n"
	"		elseif i % 7 == 1 then s = s - #tostring(i)\n"
	"		else s = s + plain(i) end\n"
	"	end\n"
	"	return s\n"
	"end\n"
	"local back = ffi.cast('int (*)(int)', function(n) return leaf(n) % 100 end)\n"
	"local turn = coroutine.wrap(function() while true do coroutine.yield(leaf(2000)) end "
	"end)\n"
	"local e, s = os.time() + seconds, 0\n"
	"while os.time() < e do\n"
	"	s = s + leaf(5000) + turn()\n"
	"	if calls_back == 1 then s = s + twice(back, 5000) end\n"
	"end\n";

struct thread {
	lua_State *lua;
	int number;
};

static int plain(int n)
{
	volatile int k = 0;

	for (int i = 0; i < 20; i++)
		k += n;
	return k & 1;
}

static int twice(int (*function)(int), int n)
{
	volatile char room[3000];

	room[1] = 1;
	return function(n) + room[1];
}

static int call(struct thread *thread)
{
	int r = protected_call(thread->lua, 0, 0, 0);

	if (r)
		fprintf(stderr, "%s\n", to_string(thread->lua, -1, NULL));
	return r;
}

static int first(struct thread *thread)
{
	return call(thread) + 1;
}

static int second(struct thread *thread)
{
	volatile char room[5000];

	room[7] = 1;
	return first(thread) + room[7];
}

static void *work(void *data)
{
	struct thread *thread = data;

	return (void *)(long)(thread->number ? second(thread) : first(thread));
}

static void set_number(lua_State *lua, const char *name, double value)
{
	push_number(lua, value);
	set_field(lua, GLOBALS, name);
}

static void set_function(lua_State *lua, const char *name, void *function)
{
	push_pointer(lua, function);
	set_field(lua, GLOBALS, name);
}

static void *symbol(const char *name)
{
	static void *library;
	void *found;

	if (!library)
		library = dlopen("libluajit-5.1.so.2", RTLD_NOW);
	found = library ? dlsym(library, name) : NULL;
	if (!found)
		exit(77);
	return found;
}

static lua_State *make_state(double seconds, int exits, int calls_back)
{
	lua_State *lua = new_state();

	if (!lua)
		exit(77);
	open_libraries(lua);
	set_number(lua, "seconds", seconds);
	set_number(lua, "exits", exits);
	set_number(lua, "calls_back", calls_back);
	set_function(lua, "plain", plain);
	set_function(lua, "twice", twice);
	if (load_string(lua, script)) {
		fprintf(stderr, "%s\n", to_string(lua, -1, NULL));
		exit(1);
	}
	return lua;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	struct thread threads[2];
	pthread_t ids[2];

	new_state = symbol("luaL_newstate");
	open_libraries = symbol("luaL_openlibs");
	load_string = symbol("luaL_loadstring");
	protected_call = symbol("lua_pcall");
	push_number = symbol("lua_pushnumber");
	push_pointer = symbol("lua_pushlightuserdata");
	set_field = symbol("lua_setfield");
	to_string = symbol("lua_tolstring");
	for (int i = 0; i < 2; i++)
		threads[i] = (struct thread){ make_state(seconds, argc > 2, i), i };
	for (int i = 0; i < 2; i++)
		pthread_create(&ids[i], NULL, work, &threads[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
