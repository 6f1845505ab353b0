package certificate

// load is the pods that a machine may hold: numbers of pods of some classes within a room. The room is cut to the
// requests of all of these pods.
type load struct {
	room []int64
	pods []podCount
}

// podCount is a number of pods of a class.
type podCount struct {
	class int
	count int64
}

// limitTo lowers the room of the load to at most the given room.
func (l *load) limitTo(room []int64) {
	for d, n := range room {
		l.room[d] = max(0, min(l.room[d], n))
	}
}

// fits reports whether a pod of the size has room.
func fits(size, room []int64) bool {
	for d, n := range size {
		if n > 0 && n > room[d] {
			return false
		}
	}
	return true
}

// mostAlone returns how many pods of the class, of at most so many, the room holds without other pods.
func (s *podClass) mostAlone(most int64, room []int64) int64 {
	if s.single {
		most = min(most, 1)
	}
	for d, n := range s.size {
		if n > 0 {
			most = min(most, room[d]/n)
		}
	}
	return most
}
