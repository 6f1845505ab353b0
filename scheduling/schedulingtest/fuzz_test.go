package schedulingtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Whatever a line says about ties and volumes of a pod, what it means is written so that
// it means the same again.
func FuzzParsePods(f *testing.F) {
	for _, line := range []string{
		"3 x web cpu=1 label=(app=web) spread=(zone)",
		"web spread=(host skew=2 of=(app=db, tier in a b) min=3 taints=honor affinity=ignore same=version) spread=(x soft of=none)",
		"web near=(zone of=() ns=(a b) ns-of=(team=red, x exists) other=y weight=7) apart=(\"zone\") label=(a=b c=)",
		"web claim=data-# claim=logs ephemeral=(tmp class=fast mode=rwop) owner=replicaset/web prefer=(zone in a, weight 5) deleting",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n\r") || len(line) > 500 {
			return
		}
		g, err := parsePods(line)
		if err != nil || g.count > 20 {
			return
		}
		pod := g.pods()[0]
		words := append([]string{pod.Name}, tieWords(pod.Labels, &pod.Spec)...)
		words = append(words, podVolumeWords(&pod.Spec)...)
		if len(pod.Labels) > 0 {
			words = append(words, pairs("label", pod.Labels))
		}
		again, err := parsePods(strings.Join(words, " "))
		if err != nil {
			return // keys and names that are no label keys and no names
		}
		got := again.pods()[0]
		if !equality.Semantic.DeepEqual(pod.Labels, got.Labels) {
			return // labels with parentheses and the like
		}
		assert.True(t, equality.Semantic.DeepEqual(pod.Spec.TopologySpreadConstraints, got.Spec.TopologySpreadConstraints),
			"%s\n%v\n%v", strings.Join(words, " "), pod.Spec.TopologySpreadConstraints, got.Spec.TopologySpreadConstraints)
	})
}

// No input makes a command panic.
func FuzzCommands(f *testing.F) {
	for _, text := range strings.SplitAfter(surroundings, separator+"\n\n") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		script, err := parseScript(text)
		if err != nil {
			return
		}
		s := newSession()
		for _, p := range script.parts {
			if b := p.block; b != nil && len(b.lines) > 0 && !strings.HasPrefix(b.lines[0], "solve") && !strings.Contains(text, " x ") {
				require.NotPanics(t, func() { s.run(t.Context(), b) })
			}
		}
	})
}
