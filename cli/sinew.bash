# Completion for bash: commands, their options, and files. Words come from the program's own help.
_sinew() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        local commands
        commands=$(sinew --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
        return
    fi
    if [[ $word == -* ]]; then
        local options
        options=$(sinew "$command" --help 2>/dev/null | grep -o -- '--[a-z-]*[a-z]' | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _sinew sinew
