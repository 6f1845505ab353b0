package schedulingtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// parseTie reads what stands in the parentheses of spread=, near= and apart=:
//
//	KEY [of=(SELECTOR)] [of=none] [same=KEY]…
//	spread: [skew=N] [min=N] [soft] [affinity=POLICY] [taints=POLICY]
//	near, apart: [weight=N] [ns=(NAME…)] [ns-of=(SELECTOR)] [other=KEY]…
func parseTie(name, text string) (key string, opts []TieOption, err error) {
	words, err := splitWords(text)
	if err != nil {
		return "", nil, err
	}
	if len(words) == 0 || words[0].hasValue {
		return "", nil, fmt.Errorf("%s=(%s): want a key", name, text)
	}
	var errs []error
	for _, w := range words[1:] {
		more, err := parseTieWord(w)
		if name == "spread" {
			if more == nil && err == nil {
				more, err = parseSpreadWord(w)
			}
		} else if more == nil && err == nil {
			more, err = parseAffinityWord(w)
		}
		if more == nil && err == nil {
			err = unexpected(w)
		}
		opts, errs = append(opts, more), append(errs, err)
	}
	return expandKey(words[0].key), opts, errors.Join(errs...)
}

// parseTieWord reads a word that all ties have; nil is one that they have not.
func parseTieWord(w word) (TieOption, error) {
	switch w.key {
	case "of":
		if w.value == "none" {
			return OfNone(), nil
		}
		selector, err := parseSelector(w.value)
		return tieFunc(func(t *tie) { t.selector, t.chosen = selector.DeepCopy(), true }), err
	case "same":
		return Same(expandKey(w.value)), nil
	}
	return nil, nil
}

func parseSpreadWord(w word) (TieOption, error) {
	switch w.key {
	case "skew":
		n, err := strconv.ParseInt(w.value, 10, 32)
		return Skew(int32(n)), err
	case "min":
		n, err := strconv.ParseInt(w.value, 10, 32)
		return MinDomains(int32(n)), err
	case "soft":
		return Soft(), nil
	case "affinity":
		p, err := parsePolicy(w)
		return AffinityPolicy(p), err
	case "taints":
		p, err := parsePolicy(w)
		return TaintsPolicy(p), err
	}
	return nil, nil
}

func parseAffinityWord(w word) (TieOption, error) {
	switch w.key {
	case "weight":
		n, err := strconv.ParseInt(w.value, 10, 32)
		return Weight(int32(n)), err
	case "ns":
		return InNamespaces(strings.Fields(w.value)...), nil
	case "ns-of":
		selector, err := parseSelector(w.value)
		return tieFunc(func(t *tie) { t.everywhere = selector.DeepCopy() }), err
	case "other":
		return Other(expandKey(w.value)), nil
	}
	return nil, nil
}

func parsePolicy(w word) (corev1.NodeInclusionPolicy, error) {
	switch w.value {
	case "honor":
		return corev1.NodeInclusionPolicyHonor, nil
	case "ignore":
		return corev1.NodeInclusionPolicyIgnore, nil
	}
	return "", fmt.Errorf("%s: want honor or ignore", w)
}

// parseSelector reads conditions on the labels of pods or namespaces, separated by
// commas: KEY=VALUE…, or those of [parseExprs] but for the ones that compare numbers.
// Nothing is a selector of everything. Keys are not short for others here.
func parseSelector(text string) (*metav1.LabelSelector, error) {
	s := &metav1.LabelSelector{}
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if strings.Contains(part, "=") {
			words, err := splitWords(part)
			if err != nil {
				return nil, err
			}
			for _, w := range words {
				if !w.hasValue {
					return nil, fmt.Errorf("%q: want KEY=VALUE", w)
				}
				s.MatchLabels = LabelOption{w.key, w.value}.into(s.MatchLabels)
			}
			continue
		}
		fields := strings.Fields(part)
		e, err := parseExpr(fields)
		if err != nil {
			return nil, fmt.Errorf("selector %q: %w", strings.TrimSpace(part), err)
		}
		e.Key = fields[0]
		s.MatchExpressions = append(s.MatchExpressions, labelExpressions([]requirements.Selector{e})...)
	}
	return s, nil
}
