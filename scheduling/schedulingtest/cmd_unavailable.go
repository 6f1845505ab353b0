package schedulingtest

import (
	"context"
	"errors"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// cmdUnavailable replaces the record of offerings that failed a moment ago.
//
//	unavailable
//	TYPE ZONE CAPACITY-TYPE
//
// A type or zone written * stands for every one.
func cmdUnavailable(_ context.Context, s *session, args []word, input []string) (string, error) {
	if len(args) > 0 {
		return "", unexpected(args[0])
	}
	u := &offerings.Unavailable{}
	err := eachLine(input, func(line string) error {
		f := strings.Fields(line)
		if len(f) != 3 {
			return errors.New("want TYPE ZONE CAPACITY-TYPE")
		}
		for i := range f {
			f[i] = strings.TrimSuffix(f[i], "*")
		}
		ct, err := offerings.ParseCapacityType(f[2])
		u.Mark(offerings.Key{InstanceType: f[0], Zone: f[1], CapacityType: ct}, s.problem.Now, 0)
		return err
	})
	if err != nil {
		return "", err
	}
	s.problem.Unavailable = u
	return count(len(input), "failed offering"), nil
}
