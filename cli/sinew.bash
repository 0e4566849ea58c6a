# Completion for bash: commands, their options, words and files, all taken from the program itself.
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
    local list=''
    case $command:${COMP_WORDS[COMP_CWORD - 1]} in
    run:--format | run:-f) list=formats ;;
    rig:--kind | rig:-k) list=node-kinds ;;
    rig:--blend) list=blends ;;
    rig:--metric) list=metrics ;;
    tetrahedralize:--element | tetrahedralize:-e) list=elements ;;
    rig:--unit | rig:-u | inspect:--unit | inspect:-u | soften:--unit | soften:-u) list=units ;;
    esac
    if [ -n "$list" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sinew list $list 2>/dev/null)" -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _sinew sinew
