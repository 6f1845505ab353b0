package schedulingtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// cmdClaims replaces the claims on volumes.
//
//	claims
//	[N x] NAME [ns=NS] [class=CLASS] [volume=VOLUME] [half-bound=VOLUME] [mode=rwo|rwx|rox|rwop]
//	    [of-pod=POD] [lost] [deleting]
//
// With volume= the claim is bound. In the volume's name, # stands for the number of
// the claim. A claim with of-pod= is that of an ephemeral volume of the pod.
func cmdClaims(_ context.Context, s *session, args []word, input []string) (string, error) {
	var claims []*corev1.PersistentVolumeClaim
	err := eachNumbered(args, input, func(name string, words []word) error {
		opts, err := parseClaimWords(words)
		if err != nil {
			return err
		}
		claims = append(claims, Claim(name, opts...))
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.Claims = claims
	return count(len(claims), "claim"), nil
}

// cmdVolumes replaces the volumes.
//
//	volumes
//	[N x] NAME [where=(REQUIREMENT, …)]… [driver=DRIVER] [class=CLASS] [deleting]
//
// The driver is ebs unless stated. Short for the names of CSI drivers are ebs, gce,
// azure and efs; in-tree-ebs, in-tree-gce, in-tree-azure, local, host-path and nfs
// stand for the plugins of Kubernetes itself.
func cmdVolumes(_ context.Context, s *session, args []word, input []string) (string, error) {
	var volumes []*corev1.PersistentVolume
	err := eachNumbered(args, input, func(name string, words []word) error {
		var opts []VolumeOption
		var errs []error
		for _, w := range words {
			o, err := parseVolumeWord(w)
			opts, errs = append(opts, o), append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		volumes = append(volumes, Volume(name, opts...))
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.Volumes = volumes
	return count(len(volumes), "volume"), nil
}

// cmdClasses replaces the storage classes.
//
//	classes
//	NAME [where=(KEY in VALUE…, …)]… [driver=DRIVER] [immediate] [default[=MINUTE]]
//
// A class waits for the first consumer unless it says immediate. Of several default
// classes the newest counts.
func cmdClasses(_ context.Context, s *session, args []word, input []string) (string, error) {
	var classes []*storagev1.StorageClass
	err := eachNumbered(args, input, func(name string, words []word) error {
		var opts []ClassOption
		var errs []error
		for _, w := range words {
			o, err := parseClassWord(w)
			opts, errs = append(opts, o), append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
		classes = append(classes, StorageClass(name, opts...))
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.StorageClasses = classes
	return count(len(classes), "class"), nil
}

// cmdCSINodes replaces what nodes say about how many volumes they take.
//
//	csi-nodes
//	NODE DRIVER[=N]…
//
// A driver without a number sets no limit.
func cmdCSINodes(_ context.Context, s *session, args []word, input []string) (string, error) {
	var nodes []*storagev1.CSINode
	err := eachNumbered(args, input, func(name string, words []word) error {
		var drivers []Amount
		for _, w := range words {
			limit := int64(-1)
			if w.hasValue {
				var err error
				if limit, err = strconv.ParseInt(w.value, 10, 32); err != nil {
					return fmt.Errorf("%s: want a number of volumes", w)
				}
			}
			drivers = append(drivers, Count(corev1.ResourceName(driverName(w.key)), limit))
		}
		nodes = append(nodes, CSINode(name, drivers...))
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.CSINodes = nodes
	return count(len(nodes), "CSI node"), nil
}

// eachNumbered reads lines [N x] NAME WORD… and calls f for each of the N names,
// numbered as pods are. In the words' values, # stands for the number.
func eachNumbered(args []word, input []string, f func(name string, words []word) error) error {
	if len(args) > 0 {
		return unexpected(args[0])
	}
	return eachLine(input, func(line string) error {
		words, err := splitWords(line)
		if err != nil {
			return err
		}
		n := 0
		if len(words) >= 3 && words[1] == (word{key: "x"}) {
			if n, err = strconv.Atoi(words[0].key); err != nil || n < 1 {
				return fmt.Errorf("%q: want a number", words[0])
			}
			words = words[2:]
		}
		if words[0].hasValue {
			return errors.New("want a name")
		}
		if n == 0 {
			return f(words[0].key, words[1:])
		}
		for i := range n {
			number := strconv.Itoa(i + 1)
			own := make([]word, 0, len(words))
			for _, w := range words[1:] {
				w.value = strings.ReplaceAll(w.value, "#", number)
				own = append(own, w)
			}
			if err := f(words[0].key+"-"+number, own); err != nil {
				return err
			}
		}
		return nil
	})
}
