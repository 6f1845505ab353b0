package schedulingtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// accessModes are short for the access modes of claims.
func accessModes() map[string]corev1.PersistentVolumeAccessMode {
	return map[string]corev1.PersistentVolumeAccessMode{
		"rwo": corev1.ReadWriteOnce, "rwx": corev1.ReadWriteMany, "rox": corev1.ReadOnlyMany, "rwop": corev1.ReadWriteOncePod,
	}
}

// parsePodVolume reads the words about a pod's volumes; nil is another word.
//
//	claim=NAME  ephemeral=(NAME [class=CLASS] [mode=MODE])
//
// In a claim's name, # stands for what follows the last hyphen of the pod's name.
func parsePodVolume(w word) (PodOption, error) {
	switch w.key {
	case "claim":
		return podFunc(func(p *corev1.Pod) {
			number := p.Name[strings.LastIndexByte(p.Name, '-')+1:]
			UseClaim(strings.ReplaceAll(w.value, "#", number)).applyPod(p)
		}), nil
	case "ephemeral":
		words, err := splitWords(w.value)
		if err != nil {
			return nil, err
		}
		if len(words) == 0 || words[0].hasValue {
			return nil, errors.New("want the ephemeral volume's name")
		}
		opts, err := parseClaimWords(words[1:])
		return Ephemeral(words[0].key, opts...), err
	}
	return nil, nil
}

// parseClaimWords reads the words about claims.
func parseClaimWords(words []word) ([]ClaimOption, error) {
	var opts []ClaimOption
	var errs []error
	for _, w := range words {
		o, err := parseClaimWord(w)
		opts, errs = append(opts, o), append(errs, err)
	}
	return opts, errors.Join(errs...)
}

func parseClaimWord(w word) (ClaimOption, error) {
	switch w.key {
	case "ns":
		return Namespace(w.value), nil
	case "class":
		return OfClass(w.value), nil
	case "volume":
		return BoundTo(w.value), nil
	case "half-bound":
		return HalfBoundTo(w.value), nil
	case "mode":
		mode, ok := accessModes()[w.value]
		if !ok {
			return nil, fmt.Errorf("%s: want rwo, rwx, rox or rwop", w)
		}
		return Access(mode), nil
	case "lost":
		return Lost(), nil
	case "of-pod":
		return OwnedByPod(w.value), nil
	case "deleting":
		return Deleting(), nil
	}
	return nil, unexpected(w)
}

// storageOption says something about a volume or about a class.
type storageOption interface {
	VolumeOption
	ClassOption
}

// parseStorageWord reads a word that volumes and classes have in common; nil if it is
// none.
func parseStorageWord(w word) (storageOption, error) {
	switch w.key {
	case "where":
		exprs, err := parseExprs(w.value)
		return Where(exprs...), err
	case "driver":
		return Driver(driverName(w.value)), nil
	}
	return nil, nil
}

func parseVolumeWord(w word) (VolumeOption, error) {
	if o, err := parseStorageWord(w); o != nil {
		return o, err
	}
	switch w.key {
	case "class":
		return OfClass(w.value), nil
	case "deleting":
		return Deleting(), nil
	}
	return nil, unexpected(w)
}

func parseClassWord(w word) (ClassOption, error) {
	if o, err := parseStorageWord(w); o != nil {
		return o, err
	}
	switch w.key {
	case "immediate":
		return Immediate(), nil
	case "default":
		minute := 0
		if w.hasValue {
			var err error
			if minute, err = strconv.Atoi(w.value); err != nil {
				return nil, fmt.Errorf("%s: want a minute", w)
			}
		}
		return DefaultClass(minute), nil
	}
	return nil, unexpected(w)
}
