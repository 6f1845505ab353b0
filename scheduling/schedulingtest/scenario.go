package schedulingtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// RunScenarios runs every file *.txt of the directory, each as a subtest that has
// the file's name. The package comment describes the files.
//
// When the test binary knows a boolean flag "rewrite" and it is set, files whose
// output differs are written anew instead of failing. The flag is the test's own:
//
//	var _ = flag.Bool("rewrite", false, "write the output of scenarios anew")
func RunScenarios(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no scenarios in %s", dir)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runFile(t, file) })
	}
}

func runFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	script, err := parseScript(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, r := range script.run(t.Context()) {
		for _, err := range r.broken {
			t.Errorf("%s:%d: %v", file, r.block.line, err)
		}
		if r.got == r.block.want {
			continue
		}
		if !rewriting() {
			t.Errorf("%s:%d: %s\nwant:\n%s\ngot:\n%s", file, r.block.line, r.block.lines[0], r.block.want, r.got)
		}
		r.block.want = r.got
	}
	if out := script.String(); rewriting() && out != string(text) {
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// result is what a block printed and which promises were broken meanwhile.
type result struct {
	block  *block
	got    string
	broken []error
}

// run runs all blocks of the script in order.
func (s *script) run(ctx context.Context) []result {
	session := newSession()
	var results []result
	for _, p := range s.parts {
		if p.block == nil {
			continue
		}
		r := result{block: p.block, got: session.run(ctx, p.block), broken: session.broken}
		session.broken = nil
		results = append(results, r)
	}
	return results
}

// RunScenario runs the text of one scenario and returns it with the output that
// the commands give now. The error joins every promise that a plan did not keep,
// and says when the text is no scenario.
func RunScenario(ctx context.Context, text string) (string, error) {
	script, err := parseScript(text)
	if err != nil {
		return "", err
	}
	var errs []error
	for _, r := range script.run(ctx) {
		r.block.want = r.got
		errs = append(errs, r.broken...)
	}
	return script.String(), errors.Join(errs...)
}

// rewriting reports whether the test's flag asks for new files.
func rewriting() bool {
	f := flag.Lookup("rewrite")
	if f == nil {
		return false
	}
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return false
	}
	on, ok := g.Get().(bool)
	return ok && on
}

// separator stands between a command and what it is expected to print.
const separator = "----"

// script is a scenario file: comments and blank lines as they are, and blocks.
type script struct{ parts []part }

// part is a block, or a line that means nothing to the runner.
type part struct {
	text  string
	block *block
}

// block is one command of a script.
type block struct {
	line  int      // of the command, from 1
	lines []string // the command and its input, without comments
	raw   []string // the same with comments
	want  string   // what the file expects, without a final line break
}

// parseScript reads a scenario file.
func parseScript(text string) (*script, error) {
	var s script
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		if blankOrComment(lines[i]) {
			s.parts = append(s.parts, part{text: lines[i]})
			i++
			continue
		}
		b := &block{line: i + 1}
		for ; i < len(lines) && lines[i] != separator; i++ {
			if strings.TrimSpace(lines[i]) == "" {
				return nil, fmt.Errorf("line %d: the command of line %d lacks its %s", i+1, b.line, separator)
			}
			b.raw = append(b.raw, lines[i])
			if !blankOrComment(lines[i]) {
				b.lines = append(b.lines, lines[i])
			}
		}
		if i == len(lines) {
			return nil, fmt.Errorf("line %d: the command lacks its %s", b.line, separator)
		}
		var want []string
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
			want = append(want, lines[i])
		}
		b.want = strings.Join(want, "\n")
		s.parts = append(s.parts, part{block: b})
	}
	return &s, nil
}

func blankOrComment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}

// String is the text of the file.
func (s *script) String() string {
	var b strings.Builder
	for _, p := range s.parts {
		if p.block == nil {
			b.WriteString(p.text + "\n")
			continue
		}
		for _, line := range p.block.raw {
			b.WriteString(line + "\n")
		}
		b.WriteString(separator + "\n")
		if p.block.want != "" {
			b.WriteString(p.block.want + "\n")
		}
	}
	return b.String()
}
