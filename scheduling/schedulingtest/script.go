package schedulingtest

import (
	"fmt"
	"strings"
)

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
