import { connect } from '../../src/library/index.ts';
import { libraryOver } from './library.ts';

libraryOver('memory', () => connect('memory:'));
