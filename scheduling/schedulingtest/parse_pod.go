package schedulingtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// group is one line of pods: some pods that differ in their names only.
type group struct {
	count   int
	name    string
	options []PodOption
}

// pods makes the pods of the group. A single pod has the group's own name.
func (g group) pods() []*corev1.Pod {
	if g.count == 1 {
		return []*corev1.Pod{Pod(g.name, g.options...)}
	}
	return Pods(g.count, g.name, g.options...)
}

// parsePods reads a line [N x] NAME WORD…, see the package comment for the words.
func parsePods(line string) (group, error) {
	words, err := splitWords(line)
	if err != nil {
		return group{}, err
	}
	g := group{count: 1}
	if len(words) >= 3 && words[1] == (word{key: "x"}) {
		if g.count, err = strconv.Atoi(words[0].key); err != nil || g.count < 1 {
			return group{}, fmt.Errorf("%q: want a number of pods", words[0])
		}
		words = words[2:]
	}
	if len(words) == 0 || words[0].hasValue {
		return group{}, errors.New("want the pods' name")
	}
	g.name = words[0].key
	var errs []error
	for _, w := range words[1:] {
		o, err := parsePodWord(w)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		g.options = append(g.options, o)
	}
	return g, errors.Join(errs...)
}

// parsePodWord reads one word about a pod.
func parsePodWord(w word) (PodOption, error) {
	if o, ok, err := parseResourceWord(w); ok {
		return o, err
	}
	if o, err := parsePodVolume(w); o != nil || err != nil {
		return o, err
	}
	switch w.key {
	case "where":
		exprs, err := parseExprs(w.value)
		return Where(exprs...), err
	case "prefer":
		return parsePrefer(w.value)
	case "spread", "near", "apart":
		key, opts, err := parseTie(w.key, w.value)
		makers := map[string]func(string, ...TieOption) PodOption{"spread": Spread, "near": Near, "apart": Apart}
		return makers[w.key](key, opts...), err
	case "owner":
		kind, name, err := cutOwner(w.value)
		return OwnedBy(kind, name), err
	case "deleting":
		return Deleting(), nil
	case "select":
		return eachPair(w.value, func(key, value string) PodOption { return Select(expandKey(key), value) })
	case "label":
		return eachPair(w.value, func(key, value string) PodOption { return Label(key, value) })
	case "tolerate":
		return Toleration(parseToleration(w.value)), nil
	case "port":
		return parsePort(w.value)
	case "priority":
		n, err := strconv.ParseInt(w.value, 10, 32)
		return Priority(int32(n)), err
	case "ns":
		return Namespace(w.value), nil
	case "on":
		return OnNode(w.value), nil
	case "daemon":
		return OwnedByDaemonSet(w.value), nil
	case "done":
		return Phase(corev1.PodSucceeded), nil
	}
	return nil, unexpected(w)
}

// parsePrefer reads requirements that a pod prefers, perhaps with "weight N" as the
// last; the weight is 1 else.
func parsePrefer(text string) (PodOption, error) {
	weight := int64(1)
	if i := strings.LastIndexByte(text, ','); i >= 0 {
		if n, ok := strings.CutPrefix(strings.TrimSpace(text[i+1:]), "weight "); ok {
			var err error
			if weight, err = strconv.ParseInt(n, 10, 32); err != nil {
				return nil, fmt.Errorf("prefer=(%s): %w", text, err)
			}
			text = text[:i]
		}
	}
	exprs, err := parseExprs(text)
	return Prefer(int32(weight), exprs...), err
}

// parseResourceWord reads a word about what a pod asks for; ok is false when the
// word is about something else.
func parseResourceWord(w word) (o PodOption, ok bool, err error) {
	makers := map[string]func(...Amount) PodOption{
		"limits": Limits, "container": Container, "init": Init, "sidecar": Sidecar,
		"overhead": Overhead, "pod-level": PodLevel,
	}
	if option, ok := makers[w.key]; ok {
		amounts, err := parseAmounts(w.value)
		return option(amounts...), true, err
	}
	if _, ok := resourceName(w.key); !ok || !w.hasValue {
		return nil, false, nil
	}
	a, err := parseAmount(w)
	return Requests(a), true, err
}

// eachPair reads KEY=VALUE words and makes one option of them.
func eachPair(text string, option func(key, value string) PodOption) (PodOption, error) {
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		if !w.hasValue {
			return nil, fmt.Errorf("%q: want KEY=VALUE", w)
		}
	}
	return podFunc(func(p *corev1.Pod) {
		for _, w := range words {
			option(w.key, w.value).applyPod(p)
		}
	}), nil
}
