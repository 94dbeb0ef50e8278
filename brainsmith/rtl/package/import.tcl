# Make a Vivado project of this accelerator, or add it to a project as an IP core:
#
#   vivado -mode batch -source import.tcl                          a project in ./vivado
#   vivado -mode batch -source import.tcl -tclargs -synth          ... synthesised out of context, with reports
#   source import.tcl                                              in Vivado, without a project: as the first
#   set argv -ip; source import.tcl                                in Vivado, with a project: adds the IP core to it
#
# Options: -project DIR (./vivado), -part PART, -synth, -ip.
#
# Sources load their weights and thresholds from memory/, relative to this folder. Vivado runs elsewhere, so the script
# works on a copy of the sources, DIR/finn_sources, in which these paths are absolute.

proc read_text {path} {
    set file [open $path r]
    set text [read $file]
    close $file
    return $text
}

proc write_text {path text} {
    file mkdir [file dirname $path]
    set file [open $path w]
    puts -nonewline $file $text
    close $file
}

proc parse_options {words defaults} {
    array set options $defaults
    while {[llength $words]} {
        set words [lassign $words word]
        switch -- $word {
            -synth - -ip { set options($word) 1 }
            -project - -part {
                if {![llength $words]} { error "$word needs a value" }
                set words [lassign $words options($word)]
            }
            default { error "unknown option $word: there is -project DIR, -part PART, -synth, -ip" }
        }
    }
    return [array get options]
}

# Copy the package's sources and memory contents; return the sources in the order of compilation.
proc copy_sources {package target} {
    set memory [file join $target memory]
    file mkdir $memory
    foreach path [glob -directory [file join $package memory] -nocomplain *] {
        file copy -force $path $memory
    }
    set sources {}
    foreach name [split [string trim [read_text [file join $package filelist.f]]] \n] {
        set text [string map [list "\"memory/" "\"$memory/"] [read_text [file join $package $name]]]
        write_text [file join $target $name] $text
        lappend sources [file join $target $name]
    }
    file copy -force [file join $package component.xml] $target
    return $sources
}

proc add_core {repository} {
    set paths [get_property ip_repo_paths [current_project]]
    set_property ip_repo_paths [lsort -unique [concat $paths [list $repository]]] [current_project]
    update_ip_catalog -rebuild
}

proc make_project {top project part period sources memories} {
    create_project $top $project -part $part
    add_files -norecurse $sources
    if {[llength $memories]} { add_files -norecurse $memories }
    set constraints [file join $project ${top}_clock.xdc]
    write_text $constraints "create_clock -name ap_clk -period $period \[get_ports ap_clk\]\n"
    add_files -fileset constrs_1 -norecurse [list $constraints]
    set_property top $top [current_fileset]
    update_compile_order -fileset sources_1
}

proc synthesise {top project part} {
    synth_design -top $top -part $part -mode out_of_context
    report_utilization -hierarchical -file [file join $project ${top}_utilization.rpt]
    report_timing_summary -file [file join $project ${top}_timing.rpt]
    write_checkpoint -force [file join $project ${top}.dcp]
}

proc import_accelerator {package top part period words} {
    array set options [parse_options $words [list -project vivado -part $part -synth 0 -ip 0]]
    set project [file normalize $options(-project)]
    set target [file join $project finn_sources]
    if {!$options(-ip) && [file exists $project]} {
        error "$project is there already: remove it, or name another folder with -project"
    }
    # All accelerators have the same names of modules and of the core: another one would silently take its place.
    if {$options(-ip) && [file exists $target]} {
        error "$target has the sources of an accelerator already: remove it to replace that one, or name another folder\
            with -project"
    }
    set sources [copy_sources $package $target]
    if {$options(-ip)} {
        add_core $target
        return
    }
    set memories [glob -directory [file join $target memory] -nocomplain *]
    make_project $top $project $options(-part) $period $sources [lsort $memories]
    if {$options(-synth)} { synthesise $top $project $options(-part) }
}

if {![info exists argv]} { set argv {} }
import_accelerator [file dirname [file normalize [info script]]] $top $part $period $argv
