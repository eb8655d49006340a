# fish completion for stacktally: its commands, then what the command completes itself.
function __stacktally_needs_command
    test (count (commandline -opc)) -eq 1
end
function __stacktally_complete_rest
    set -l words (commandline -opc)
    contains -- $words[2] profile stackcount; or return
    complete -C (string join ' ' -- $words[2..-1] (commandline -ct))
end
complete -c stacktally -f
complete -c stacktally -n __stacktally_needs_command -a 'profile stackcount check last probe help --help --version'
complete -c stacktally -n 'not __stacktally_needs_command' -a '(__stacktally_complete_rest)'
