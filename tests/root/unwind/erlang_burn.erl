%% SPDX-License-Identifier: GPL-2.0-or-later
%% Functions of which each has one caller only, for erlang_test.sh. They call each other by all the ways of
%% Erlang's compiler: calls, last calls that leave a frame, last calls through the table of exported functions.
-module(erlang_burn).
-export([start/0, over/1]).

start() ->
    outer(erlang:monotonic_time(millisecond) + 3000, 0),
    halt().

outer(End, Sum) ->
    case erlang:monotonic_time(millisecond) < End of
        true -> outer(End, (Sum + middle(20)) rem 1000003);
        false -> ok
    end.

middle(N) -> high(200, N) + low(200, N).

high(0, Sum) -> Sum;
high(N, Sum) -> high(N - 1, (Sum * 31 + N) rem 1000003).

low(0, Sum) -> Sum;
low(N, Sum) -> low(N - 1, leaf(Sum) + last(Sum)).

leaf(N) -> (N + 1) rem 1000003.

last(N) -> ?MODULE:over(N).

over(N) -> N band 1023.
