# SPDX-License-Identifier: MIT
# stores.awk FILE...: complains about each place outside lib/tree/worlds.h that could store to the worlds
# of a forest, and about a function in it that stores without the change mark. "-v home=FILE" names
# another file for it.

BEGIN { if (home == "") home = "lib/tree/worlds.h" }

function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text }

# Comments name things freely, but for the remark of a store that its callers mark.
!/marked by the caller/ { sub(/\/\/.*/, "") }

FILENAME == home && /^(static|ESPL__INLINE|ESPL__APART)/ { stores = marks = 0 }
FILENAME == home && /to_store(\[|,)/ { stores = FNR }
FILENAME == home && /espl__worlds?_stored\(|marked by the caller/ { marks = 1 }
FILENAME == home && /^}/ && stores && !marks { complain("a store without espl__worlds_stored()") }
FILENAME == home { next }

/to_store/ { complain("worlds are stored by espl__world_store()") }
/world *\[[^]]*\](\.[a-z_]+(\[[^]]*\])?)* *([-+*\/]?=[^=]|=$)/ {
    complain("an assignment to a world")
}
/\(( *(unsigned char|char|void|float|espl_pose) *\* *| *uintptr_t *)\) *&?[^;,]*(->|\.)world/ {
    complain("a cast of the worlds")
}
FILENAME !~ /^lib\/math\// && /kernels->compose(_ranges)?\(/ { complain("worlds are composed by espl__worlds_compose()") }
/mem(cpy|move|set)\([^,;]*(->|\.)world *(,|\[|\+)/ { complain("a copy over worlds") }
