package schedulingtest

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
)

// cmdDaemonSet replaces the DaemonSets.
//
//	daemonset
//	NAME [the words of pods]
func cmdDaemonSet(_ context.Context, s *session, args []word, input []string) (string, error) {
	if len(args) > 0 {
		return "", unexpected(args[0])
	}
	var sets []*appsv1.DaemonSet
	err := eachLine(input, func(line string) error {
		g, err := parsePods(line)
		if err != nil {
			return err
		}
		sets = append(sets, DaemonSet(g.name, g.options...))
		return nil
	})
	if err != nil {
		return "", err
	}
	s.problem.DaemonSets = sets
	return count(len(sets), "daemonset"), nil
}
