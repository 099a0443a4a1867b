# Longhaul's script commands for Ruby: `require_relative 'longhaul'`, then `Longhaul.progress(40, 'pass 1')`.
require 'json'

module Longhaul
  WRITE = IO.for_fd(Integer(ENV.fetch('LONGHAUL_WRITE', '3')), 'w', autoclose: false)
  READ = IO.for_fd(Integer(ENV.fetch('LONGHAUL_READ', '4')), 'r', autoclose: false)

  module_function

  # Sends a command to the node. Newlines in the text become spaces.
  def send_command(verb, text = '') = WRITE.syswrite("#{verb} #{text.to_s.tr("\n", ' ')}\n")

  def run(text) = send_command('run', text)
  def done(text = '') = send_command('done', text)
  def err(text) = send_command('err', text)
  def resend(seconds, reason = '') = send_command('resend', "#{Integer(seconds)}-#{reason}")
  def progress(percent, text = '') = send_command('progress', "#{percent} #{text}")
  def checkpoint(value) = send_command('checkpoint', JSON.generate(value))
  def result(value) = send_command('result', JSON.generate(value))
  def attach(path) = send_command('attach', path)
  def tag(name) = send_command('tag', name)
  def group(name) = send_command('group', name)

  # Adds a copy of this job to another queue and returns its URL.
  def dup(queue, seconds = 0)
    send_command('dup', "#{Integer(seconds)}-X-#{queue}")
    word, rest = READ.gets.chomp.split(' ', 2)
    word == 'ok' ? rest : raise(rest)
  end

  # Returns the job's data.
  def data = JSON.parse(File.read(ENV.fetch('LONGHAUL_DATA')))

  # Returns the checkpoint of an earlier attempt, or nil.
  def last_checkpoint
    path = ENV.fetch('LONGHAUL_CHECKPOINT')
    JSON.parse(File.read(path)) if File.exist?(path)
  end
end
