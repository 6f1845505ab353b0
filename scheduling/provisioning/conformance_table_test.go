package provisioning_test

import (
	"bufio"
	"bytes"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// citation finds the numbers of behaviours.
func citation() *regexp.Regexp { return regexp.MustCompile(`\b[DPST][0-9]{1,3}\b`) }

// cited returns the numbers that comments and strings of tests and comments of scenarios name, each with the place
// where it is first named. Catalogs are left out, since machines and devices have such names, too.
func cited(t *testing.T, root string) map[string]string {
	t.Helper()
	out, pattern := map[string]string{}, citation()
	note := func(name string, text []byte) {
		for _, number := range pattern.FindAllString(string(text), -1) {
			if _, ok := out[number]; !ok {
				out[number] = name
			}
		}
	}
	require.NoError(t, filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name != root && strings.HasPrefix(rel, ".") || slices.Contains([]string{"benchmarks", "instancetypes/azure", "instancetypes/ec2", "instancetypes/gen", "tools"}, rel) {
				return filepath.SkipDir
			}
		case rel == "scheduling/provisioning/conformance_table_test.go":
		case strings.HasSuffix(rel, "_test.go"):
			return eachText(name, func(text []byte) { note(rel, text) })
		case strings.HasPrefix(rel, "scheduling/schedulingtest/testdata/scenarios/"):
			return eachRemark(name, func(text []byte) { note(rel, text) })
		}
		return nil
	}))
	return out
}

// eachText visits the comments and strings of a Go file.
func eachText(name string, visit func([]byte)) error {
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile(name, files.Base(), len(source)), source, nil, scanner.ScanComments)
	for {
		switch _, tok, text := s.Scan(); tok {
		case token.EOF:
			return nil
		case token.COMMENT, token.STRING:
			visit([]byte(text))
		}
	}
}

// eachRemark visits the comments of a scenario.
func eachRemark(name string, visit func([]byte)) error {
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(source) {
		if bytes.HasPrefix(line, []byte("#")) {
			visit(line)
		}
	}
	return nil
}

// verdict is a line of the table.
type verdict struct{ number, behaviour, here, remark string }

// verdicts reads the lines of the table in a text.
func verdicts(text []byte) []verdict {
	var out []verdict
	row := regexp.MustCompile(`^\| ([A-Z][0-9]+) \| (.+?) \| (.+?) \| ?(.*?) ?\|$`)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if m := row.FindStringSubmatch(lines.Text()); m != nil {
			out = append(out, verdict{number: m[1], behaviour: m[2], here: m[3], remark: m[4]})
		}
	}
	return out
}

// faultsOf returns the faults of a table, given the places where tests cite each number.
func faultsOf(table []verdict, where map[string]string) []string {
	var faults []string
	fault := func(number, text string) { faults = append(faults, number+": "+text) }
	seen := map[string]bool{}
	for _, v := range table {
		if seen[v.number] {
			fault(v.number, "stands twice")
		}
		seen[v.number] = true
		place, tested := where[v.number]
		switch v.here {
		case "kept", "differs":
			if !tested {
				fault(v.number, v.here+", and no test cites it")
			}
		case "caller", "not here":
			if tested {
				fault(v.number, v.here+", and "+place+" cites it")
			}
		default:
			fault(v.number, "unknown word "+strconv.Quote(v.here))
		}
		if v.here != "kept" && v.remark == "" {
			fault(v.number, v.here+" without a reason")
		}
	}
	for series, last := range map[string]int{"T": 17, "P": 190, "S": 13, "D": 96} {
		for i := 1; i <= last; i++ {
			if number := series + strconv.Itoa(i); !seen[number] {
				fault(number, "does not stand in the table")
			}
		}
	}
	for number, place := range where {
		if !seen[number] {
			fault(number, "is cited by "+place+" and does not stand in the table")
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults)
}

// The table of doc/conformance.md has for every behaviour the verdict of the tests that cite it.
func TestConformanceTable(t *testing.T) {
	text, err := os.ReadFile("../doc/conformance.md")
	require.NoError(t, err)
	where := cited(t, "../..")
	assert.Greater(t, len(where), 150, "citations were found")
	assert.Empty(t, faultsOf(verdicts(text), where))
}

// A table that disagrees with the tests is caught, whichever way.
func TestConformanceTableCanFail(t *testing.T) {
	text, err := os.ReadFile("../doc/conformance.md")
	require.NoError(t, err)
	where := cited(t, "../..")
	require.Empty(t, faultsOf(verdicts(text), where))
	for name, tc := range map[string]struct {
		old, with, want string
	}{
		"a line is missing":         {"| P107 |", "| Q107 |", "P107: does not stand in the table"},
		"a line stands twice":       {"| P107 |", "| P108 |", "P108: stands twice"},
		"a reason is missing":       {"| caller | as D83 |", "| caller | |", "D84: caller without a reason"},
		"kept, and not tested":      {"| P1 | New pods are collected for a moment before a solve | caller |", "| P1 | New pods are collected | kept |", "P1: kept, and no test cites it"},
		"tested, and not our thing": {"| P9 | Pools are tried by weight, then from the end of the alphabet | differs |", "| P9 | Pools | caller |", "P9: caller, and "},
		"a word that means nothing": {"| kept | |", "| maybe | |", "unknown word"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, string(text), tc.old)
			got := faultsOf(verdicts([]byte(strings.Replace(string(text), tc.old, tc.with, 1))), where)
			require.NotEmpty(t, got)
			assert.Contains(t, strings.Join(got, "\n"), tc.want)
		})
	}
}

// Only comments and strings of tests cite, and only comments of scenarios.
func TestWhatCites(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write("a/b_test.go", "package a\n\n// P1, XP2 and P3s.\nvar P4 = \"T5: x\" // S6\n")
	write("a/b.go", "package a\n\n// P7.\n")
	write("instancetypes/azure/c_test.go", "package azure\n\n// T8 is a machine.\n")
	write("scheduling/schedulingtest/testdata/scenarios/d.txt", "# (P9)\npods\nP10 cpu=1\n")
	write(".git/e_test.go", "package e // P11\n")
	assert.Equal(t, map[string]string{"P1": "a/b_test.go", "T5": "a/b_test.go", "S6": "a/b_test.go", "P9": "scheduling/schedulingtest/testdata/scenarios/d.txt"}, cited(t, root))
}
