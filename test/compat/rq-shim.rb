# Lets RQ 1.18.3, written for Ruby 1.8 to 2.2, run on Ruby 3.1. Preloaded by -r; nothing in the checkout changes.
$VERBOSE = nil
# The JSON library of the checkout calls a constructor with arguments that it no longer takes.
require 'json'

# The template library of the checkout wraps a page into the body of a class, where Ruby 3 allows no `yield`.
tilt = Dir.glob('vendor/gems/tilt-*/lib').first
if tilt
  $LOAD_PATH.unshift(File.expand_path(tilt))
  require 'tilt'
  Tilt::Template.class_eval do
    define_method(:compile_template_method) do |locals|
      source, = precompiled(locals)
      Object.class_eval("Tilt::TOPOBJECT.class_eval do\ndef __page(locals)\n#{source}\nend\nend", eval_file)
      unbind_compiled_method('__page')
    end
  end
end
