# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose user stacks must be complete, built as distributions ship them or as compilers
# build by default; sourced by unwind_workloads_test.sh, which sets $programs and $work.
# shellcheck shell=bash disable=SC2154

# name, per cent of stacks that must be complete, needed commands, command line that never ends
kinds=$PWD/tests/workloads/sampled
workloads() {
	cat <<END_OF_TABLE
openssl_rsa       99 openssl         forever openssl speed -seconds 1 rsa2048
openssl_sha       99 openssl         forever openssl speed -seconds 1 sha1 sha256 sha512
openssl_aes_gcm   99 openssl         forever openssl speed -seconds 1 -evp aes-128-gcm
openssl_chacha20  99 openssl         forever openssl speed -seconds 1 -evp chacha20-poly1305
python_json       99 /usr/bin/python3 exec /usr/bin/python3 $kinds/kinds.py json
python_re         99 /usr/bin/python3 exec /usr/bin/python3 $kinds/kinds.py re
python_hashlib    99 /usr/bin/python3 exec /usr/bin/python3 $kinds/kinds.py hashlib
python_zlib       99 /usr/bin/python3 exec /usr/bin/python3 $kinds/kinds.py zlib
perl              99 perl            exec perl $kinds/kinds.pl
sqlite3           99 sqlite3         forever run_sqlite
gcc               99 gcc             forever gcc -O2 -c -o $work/object.o $work/functions.c
xz                99 xz              forever_into xz -6 -c $work/text
zstd              99 zstd            forever_into zstd -q -T2 -12 -c $work/text
git_gc            99 git             forever run_git_gc
bash              99 bash            exec bash $kinds/kinds.sh
postgresql        99 initdb          run_postgresql
nginx             99 nginx,ab        run_nginx
threaded_cplusplus 99 -              exec $programs/sampled/threaded
static            99 -               exec $programs/sampled/odd_stacks_static
static_kernel     99 -               exec $programs/sampled/odd_stacks_static kernel
static_pie        99 -               exec $programs/sampled/odd_stacks_static_pie
alloca            99 -               exec $programs/sampled/odd_stacks alloca
realigned         99 -               exec $programs/sampled/odd_stacks realigned
big_frames        99 -               ulimit -s 20000 && exec $programs/sampled/odd_stacks big_frames
recursion         99 -               exec $programs/sampled/odd_stacks recursion
signals           99 -               exec $programs/sampled/odd_stacks signals
other_stack       99 -               exec $programs/sampled/odd_stacks other_stack
jumps             99 -               exec $programs/sampled/odd_stacks jumps
kernel_entries    99 -               exec $programs/sampled/odd_stacks kernel
fibers            99 -               exec $programs/sampled/odd_stacks fibers
musl              95-no-row musl-gcc        exec $work/odd_stacks_musl
musl_signals      95-no-row musl-gcc        exec $work/odd_stacks_musl_signals other_stack
musl_static       95-no-row musl-gcc        exec $work/odd_stacks_musl_static kernel
go                95 go              exec $work/kinds_go
node              95 node            exec node $kinds/kinds.js
END_OF_TABLE
}

forever() { while :; do "$@" >>"$fate" 2>&1 || exit 1; done; }
forever_into() { while :; do "$@" >"$work/output" || exit 1; done; }

run_sqlite() {
	sqlite3 :memory: "
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
			SELECT count(*) FROM n;
		CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
		INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
			WHERE i < 30000) SELECT i, hex(i * 7919 % 997), i / 3.0 FROM n;
		CREATE INDEX by_b ON t(b);
		SELECT b, count(*), avg(c) FROM t WHERE b LIKE '%3%' GROUP BY b ORDER BY 3;
		SELECT count(*) FROM t x JOIN t y ON x.b = y.b WHERE x.a < 500;
		UPDATE t SET c = c + 1 WHERE a % 3 = 0;
		DELETE FROM t WHERE a % 7 = 0;"
}

run_git_gc() { git -C "$work/repository" gc -q --force --aggressive --prune=now; }

# Servers end with their pid namespace.
run_postgresql() {
	local as=() bin
	bin=$(dirname "$(readlink -f "$(type -P initdb)")")
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	"${as[@]}" "$bin/postgres" -D "$work/database" -k "$work/database" -c listen_addresses= \
		-c fsync=off >>"$fate" 2>&1 &
	until "$bin/pg_isready" -q -h "$work/database"; do sleep 0.05; done
	while :; do
		"${as[@]}" "$bin/pgbench" -n -c 4 -T 100 -h "$work/database" postgres >>"$fate" 2>&1
	done
}

run_nginx() {
	nginx -c "$work/nginx.conf" -p "$work" -e stderr &
	until [ -S "$work/nginx.socket" ]; do sleep 0.02; done
	while :; do ab -q -k -c 8 -n 20000 "http://127.0.0.1:$(cat "$work/nginx.port")/text" >>"$fate" 2>&1; done
}

# ---- preparations

prepare() {
	local i
	case $1 in
	gcc)
		for ((i = 0; i < 60; i++)); do
			echo "long f$i(long *a, long n) { long s = 0; for (long i = 0; i < n; i++)" \
				"switch (a[i] % 7) { case 0: s += a[i] * $i; break; case 1: s ^= i << 3;" \
				"break; case 2: s -= a[n - i - 1] / (i + $i); default: s++; } return s; }"
		done >"$work/functions.c"
		;;
	xz | zstd)
		[ -e "$work/text" ] ||
			for ((i = 0; i < 20; i++)); do cat src/*/*/*.c; echo "$RANDOM"; done >"$work/text"
		;;
	git_gc)
		git init -q "$work/repository" && cp -r src "$work/repository/" &&
			git -C "$work/repository" add src &&
			for ((i = 1; i < 20; i++)); do
				find "$work/repository/src" -name '*.c' -exec sed -i "${i}i// $i" {} + &&
					git -C "$work/repository" -c user.name=n -c user.email=e@x \
						commit -q -a -m "$i" || return
			done
		;;
	postgresql)
		local as=() bin
		bin=$(dirname "$(readlink -f "$(type -P initdb)")")
		mkdir "$work/database" || return
		[ "$(id -u)" != 0 ] || {
			chown nobody:nogroup "$work/database"
			as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
		}
		"${as[@]}" "$bin/initdb" -D "$work/database" -A trust -N -U nobody >"$work/initdb.log" 2>&1 &&
			"${as[@]}" "$bin/pg_ctl" -D "$work/database" -s -w -o "-k $work/database -c listen_addresses= -c fsync=off" -l "$work/database/log" start &&
			"${as[@]}" "$bin/pgbench" -q -i -s 1 -h "$work/database" postgres >>"$work/initdb.log" 2>&1 &&
			"${as[@]}" "$bin/pg_ctl" -D "$work/database" -s -w stop
		;;
	nginx)
		mkdir "$work/pages" && head -c 3000 Makefile >"$work/pages/text" || return
		chmod 755 "$tmp" "$work" "$work/pages"
		echo $((20000 + $$ % 10000)) >"$work/nginx.port"
		cat >"$work/nginx.conf" <<-CONF
			daemon off;
			pid $work/nginx.pid;
			worker_processes 2;
			events { worker_connections 64; }
			http {
				access_log $work/nginx.log;
				gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;
				types { text/plain txt; }
				default_type text/plain;
				client_body_temp_path $work; proxy_temp_path $work; fastcgi_temp_path $work;
				uwsgi_temp_path $work; scgi_temp_path $work;
				server {
					listen 127.0.0.1:$(cat "$work/nginx.port");
					listen unix:$work/nginx.socket;
					root $work/pages;
				}
			}
		CONF
		;;
	musl | musl_signals) musl-gcc -O2 -fomit-frame-pointer -o "$work/odd_stacks_$1" "$kinds/odd_stacks.c" ;;
	musl_static) musl-gcc -static -O2 -fomit-frame-pointer -o "$work/odd_stacks_$1" "$kinds/odd_stacks.c" ;;
	go) HOME=$work GOCACHE=$work/go GO111MODULE=off go build -o "$work/kinds_go" "$kinds/kinds.go" ;;
	esac
}
