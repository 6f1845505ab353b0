# Does with a formula what Homebrew does, without a network: it takes the archive for a platform from a folder, checks its
# checksum, installs it into a prefix, and runs the formula's test.
#
#   ruby brew.rb FORMULA FOLDER PREFIX OS ARCH
require "digest"
require "fileutils"
require "shellwords"
require "tmpdir"

FORMULA, FOLDER, PREFIX, OS, ARCH = ARGV

class Target
  def initialize(path) = @path = path
  def to_s = @path
  def /(name) = File.join(@path, name)

  def install(*things)
    FileUtils.mkdir_p(@path)
    things.each do |thing|
      (thing.is_a?(Hash) ? thing : { thing => File.basename(thing) }).each { |from, to| FileUtils.cp(from, File.join(@path, to)) }
    end
  end
end

class Formula
  class << self
    attr_reader :checked

    %w[desc homepage version license url sha256].each do |name|
      define_method(name) do |value = nil|
        @values ||= {}
        @values[name] = value if value
        @values[name]
      end
    end
    def on_macos = (yield if OS == "darwin")
    def on_linux = (yield if OS == "linux")
    def on_intel = (yield if ARCH == "amd64")
    def on_arm = (yield if ARCH == "arm64")
    def test(&block) = @checked = block
    def inherited(formula) = (super; @@formula = formula)
    def formula = @@formula
  end
  def bin = Target.new(File.join(PREFIX, "bin"))
  def bash_completion = Target.new(File.join(PREFIX, "etc/bash_completion.d"))
  def zsh_completion = Target.new(File.join(PREFIX, "share/zsh/site-functions"))
  def fish_completion = Target.new(File.join(PREFIX, "share/fish/vendor_completions.d"))

  def shell_output(command)
    output = `#{command}`
    raise "#{command}: exit code #{$?.exitstatus}" unless $?.success?
    output
  end

  def assert_match(text, output)
    raise "no #{text} in: #{output}" unless output.include?(text)
  end
end

load FORMULA
formula = Formula.formula
abort "the formula has nothing for #{OS}/#{ARCH}" unless formula.url
abort "the summary is longer than the 80 characters that brew audit allows" if "plimsoll: #{formula.desc}".length > 80
puts formula.url
archive = File.join(FOLDER, File.basename(formula.url))
abort "the checksum of #{archive} differs" unless Digest::SHA256.file(archive).hexdigest == formula.sha256
Dir.mktmpdir do |scratch|
  system("tar", "-xzf", archive, "-C", scratch) || abort("tar has failed")
  tops = Dir.children(scratch)
  Dir.chdir(tops.length == 1 ? File.join(scratch, tops[0]) : scratch) { formula.new.install }
end
formula.new.instance_eval(&formula.checked)
