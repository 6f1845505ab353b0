// Command packaging writes the files of a release that are made from its archives: a Homebrew formula, a manifest for
// krew, the install script, and container images. .ci/release runs it.
//
//	packaging write VERSION FOLDER
//	packaging push VERSION FOLDER REPOSITORY
//
// FOLDER is where .ci/release has put the archives and checksums.txt; write adds plimsoll.rb, plimsoll.yaml (krew),
// install.sh and an image for each Linux archive. push uploads these images as one image of several platforms, under
// the tag VERSION and, if that is no pre-release, latest, with the credentials of docker login.
package main
