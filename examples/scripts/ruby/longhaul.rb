# Longhaul's verbs for Ruby: `require_relative 'longhaul'`, then `Longhaul.progress(40, 'pass 1')`.
require 'json'

module Longhaul
  WRITE = IO.for_fd(Integer(ENV.fetch('LONGHAUL_WRITE', '3')), 'w', autoclose: false)
  READ = IO.for_fd(Integer(ENV.fetch('LONGHAUL_READ', '4')), 'r', autoclose: false)

  module_function

  # One line to the node. Newlines in the text become spaces.
  def say(verb, text = '') = WRITE.syswrite("#{verb} #{text.to_s.tr("\n", ' ')}\n")

  def run(text) = say('run', text)
  def done(text = '') = say('done', text)
  def err(text) = say('err', text)
  def resend(seconds, reason = '') = say('resend', "#{Integer(seconds)}-#{reason}")
  def progress(percent, text = '') = say('progress', "#{percent} #{text}")
  def checkpoint(value) = say('checkpoint', JSON.generate(value))
  def result(value) = say('result', JSON.generate(value))
  def attach(path) = say('attach', path)
  def tag(name) = say('tag', name)
  def group(name) = say('group', name)

  # A copy of this job in another queue; answers its address.
  def dup(queue, seconds = 0)
    say('dup', "#{Integer(seconds)}-X-#{queue}")
    word, rest = READ.gets.chomp.split(' ', 2)
    word == 'ok' ? rest : raise(rest)
  end

  # What the producer gave the job.
  def data = JSON.parse(File.read(ENV.fetch('LONGHAUL_DATA')))

  # What an earlier attempt left, or nil.
  def last_checkpoint
    path = ENV.fetch('LONGHAUL_CHECKPOINT')
    JSON.parse(File.read(path)) if File.exist?(path)
  end
end
