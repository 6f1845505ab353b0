// Package volumes makes the decisions about volumes on which a plan depends but which no single plan can make: for a
// claim that several pending pods share, the volume that it binds to, the zone in which a volume is provisioned, and the
// pod that uses it first.
package volumes
