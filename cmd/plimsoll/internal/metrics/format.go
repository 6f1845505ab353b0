package metrics

import (
	"io"
	"slices"
	"strings"
)

// family is a metric with its samples.
type family struct {
	// name has the unit as its suffix, which is "" for counts and for values that are 0 or 1.
	name, unit string
	help       string
	// labels are the names of the labels of each sample.
	labels  []string
	samples []sample
}

// sample is a value under values of the labels, in the order of the family's labels.
type sample struct {
	labels []string
	value  string
}

// add adds a sample. The values of the labels are in the order of the family's labels, and differ from those of
// each other sample.
func (f *family) add(value string, labels ...string) {
	f.samples = append(f.samples, sample{labels, value})
}

// write writes families in their order, each with its samples by label.
func write(w io.Writer, families []*family) error {
	var b strings.Builder
	for _, f := range families {
		b.WriteString("# HELP " + f.name + " " + escape(f.help) + "\n")
		b.WriteString("# TYPE " + f.name + " gauge\n")
		if f.unit != "" {
			b.WriteString("# UNIT " + f.name + " " + f.unit + "\n")
		}
		slices.SortFunc(f.samples, func(x, y sample) int { return slices.Compare(x.labels, y.labels) })
		for _, s := range f.samples {
			b.WriteString(f.name + f.selector(s) + " " + s.value + "\n")
		}
	}
	b.WriteString("# EOF\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// selector writes the labels of a sample in braces, "" if there are none.
func (f *family) selector(s sample) string {
	if len(f.labels) == 0 {
		return ""
	}
	pairs := make([]string, len(f.labels))
	for i, name := range f.labels {
		pairs[i] = name + `="` + escape(s.labels[i]) + `"`
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// escape writes a text as the formats demand it for values of labels and for help. Prometheus refuses text that is not
// valid UTF-8.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(text, "\uFFFD"))
}
